package s3_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	driver "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/tombstone-project/tombstone/services/asset"
	"github.com/tombstone-project/tombstone/services/asset/s3"
)

func TestObstaclesAreToldFromFaults(t *testing.T) {
	for code, want := range map[string]asset.Reason{
		"NoSuchBucket": asset.ReasonBucketMissing, "PermanentRedirect": asset.ReasonBucketMissing,
		"AccessDenied":       asset.ReasonAccessDenied,
		"InvalidAccessKeyId": asset.ReasonCredentialsExpired, "SignatureDoesNotMatch": asset.ReasonCredentialsExpired,
		"ExpiredToken":         asset.ReasonCredentialsExpired,
		"RequestTimeTooSkewed": asset.ReasonClockSkew,
		"NoSuchKey":            "", "InvalidRequest": "",
	} {
		t.Run(code, func(t *testing.T) {
			_, s := serve(t, func(request) (int, string) { return 403, failure(code) })
			_, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 10)
			errs = append(errs, s.Delete(t.Context(), "assets", []asset.Version{version("k", "v")})...)
			for _, err := range errs {
				b := asset.AsBlocked(err)
				if err == nil || (b == nil) != (want == "") || b != nil && (b.Reason != want || !strings.Contains(b.Detail, "assets")) {
					t.Errorf("%v, want reason %q naming the bucket", err, want)
				}
			}
		})
	}
}

func TestAStoreThatSlowsUsDownIsAskedAgain(t *testing.T) {
	var n atomic.Int32
	_, s := serve(t, func(request) (int, string) {
		if n.Add(1) == 1 {
			return 503, failure("SlowDown")
		}
		return 200, emptyBatch
	})
	if errs := s.Delete(t.Context(), "assets", []asset.Version{version("k", "v")}); errs[0] != nil {
		t.Error(errs[0])
	}
}

func TestAStoreThatHangsGivesAnError(t *testing.T) {
	release := make(chan struct{})
	f := &fake{answer: func(request) (int, string) { <-release; return 200, emptyBatch }}
	endpoint := serveFake(t, f)
	defer close(release)
	s := open(t, s3.Config{Endpoint: endpoint, Region: "r", AccessKey: "a", SecretKey: "s", Timeout: 50 * time.Millisecond})
	errs := s.Delete(t.Context(), "assets", []asset.Version{version("k", "v")})
	if !errors.Is(errs[0], context.DeadlineExceeded) {
		t.Errorf("delete: %v, want the deadline", errs[0])
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("ping: no error")
	}
}

func TestAnIdentityThatMayNotListBucketsHasBeenAnswered(t *testing.T) {
	_, s := serve(t, func(request) (int, string) { return 403, failure("AccessDenied") })
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAConfigurationThatCannotWorkIsRefused(t *testing.T) {
	if _, err := s3.Open(t.Context(), s3.Config{Region: "r", AccessKey: "a"}); err == nil {
		t.Error("half a key pair: no error")
	}
}

func TestMissingCredentialsSayFirstWhatToSet(t *testing.T) {
	nowhere := t.TempDir() + "/none"
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_PROFILE": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "", "AWS_WEB_IDENTITY_TOKEN_FILE": "", "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_SHARED_CREDENTIALS_FILE": nowhere, "AWS_CONFIG_FILE": nowhere} {
		t.Setenv(name, value)
	}
	s := open(t, s3.Config{Endpoint: "http://127.0.0.1:1", Region: "r", Backoff: time.Millisecond})
	_, errs := s.List(t.Context(), []asset.Place{{Bucket: "assets", Prefix: "p/"}}, 10)
	errs = append(errs, s.Ping(t.Context()), s.Delete(t.Context(), "assets", []asset.Version{version("k", "v")})[0])
	for i, err := range errs {
		set, more := strings.Index(fmt.Sprint(err), "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"), strings.Index(fmt.Sprint(err), "IMDS")
		if set < 0 || more < set || asset.AsBlocked(err) != nil {
			t.Errorf("call %d: %v", i, err)
		}
	}
}

func TestALockTellsUntilWhen(t *testing.T) {
	c := servers["embedded"](t)
	r := raw{driver.New(driver.Options{BaseEndpoint: &c.Endpoint, Region: c.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, "")})}
	s := open(t, c)
	bucket, key := r.locked(t)
	held := "held"
	if err := s.Put(t.Context(), bucket, held, strings.NewReader("x"), 1); err != nil {
		t.Fatal(err)
	}
	_, err := r.PutObjectLegalHold(t.Context(), &driver.PutObjectLegalHoldInput{Bucket: &bucket, Key: &held,
		LegalHold: &types.ObjectLockLegalHold{Status: types.ObjectLockLegalHoldStatusOn}})
	if err != nil {
		t.Fatal(err)
	}
	listings, errs := s.List(t.Context(), []asset.Place{{Bucket: bucket, Key: key}, {Bucket: bucket, Key: held}}, 10)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	errs = s.Delete(t.Context(), bucket, []asset.Version{listings[0].Versions[0], listings[1].Versions[0]})
	retained, hold := asset.AsBlocked(errs[0]), asset.AsBlocked(errs[1])
	if retained == nil || retained.Reason != asset.ReasonObjectLocked || time.Until(retained.Until) < 50*time.Minute {
		t.Errorf("retained: %v, until %v", errs[0], retained)
	}
	if hold == nil || hold.Reason != asset.ReasonObjectLocked || !hold.Until.IsZero() || !strings.Contains(hold.Detail, "legal hold") {
		t.Errorf("held: %v", errs[1])
	}
}
