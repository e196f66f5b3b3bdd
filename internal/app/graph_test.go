package app

import (
	"testing"
	"time"

	"github.com/tombstone-project/tombstone/internal/config"
	"github.com/tombstone-project/tombstone/policy"
)

func TestALongerRequestTimeoutHoldsForTransactionsOnNeo4jToo(t *testing.T) {
	c := onNeo4j(config.Config{RequestTimeout: time.Hour}, &policy.Policy{}, nil)
	if c.Timeout != time.Hour {
		t.Errorf("a transaction has %v", c.Timeout)
	}
}
