package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/tombstone-project/tombstone/client"
	"github.com/tombstone-project/tombstone/problem"
	"github.com/tombstone-project/tombstone/services/dependency"
)

func Example() {
	c, err := client.New("http://127.0.0.1:8080", "")
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	deletion, err := c.Delete(ctx, "meshes/rock-1", dependency.DeleteRequest{Reason: "replaced by rock-2", Wait: 30 * time.Second})
	switch {
	case errors.Is(err, problem.HasDependants):
		fmt.Println("still needed:", problem.As(err).Members["dependants"])
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println(deletion.ID, "is", deletion.Status)
	}
}
