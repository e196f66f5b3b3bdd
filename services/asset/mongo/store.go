// Package mongo keeps documents and the ledger of erasures in MongoDB, or in a server that speaks its wire protocol: it
// uses only commands that MongoDB 8 and FerretDB 1.24 both know, and no transactions.
//
// What cannot be told: MongoDB makes a database and a collection with the first write to it, the ledger's own among them.
// So a wrong database name cannot be told from a database in which nothing was written yet, and no call here reports
// one. An address without a database is refused by Open, and an identity that may not use the database gets a *Blocked.
package mongo

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/connstring"

	"github.com/tombstone-project/tombstone/services/asset"
)

// Options of a Store.
type Options struct {
	// Namespace is the first word of the ledger's collection. Required.
	Namespace string
	// SelectionTimeout is how long a call waits for a server that can be written to; default 3s. An election in a replica
	// set takes longer at times: the call fails then, and the caller's retry finds the new primary.
	SelectionTimeout time.Duration
	// Roots are trusted where the address asks for TLS; nil: the system's, or what the address says.
	Roots *x509.CertPool
	// Timeout of a call whose context has no deadline; default 30s.
	Timeout time.Duration
}

// Store is the document store of one database.
type Store struct {
	client *mongo.Client
	db     *mongo.Database
	ledger *mongo.Collection
}

var _ asset.Documents = (*Store)(nil)

// Open prepares a store; it connects with the first call, so it succeeds while the server is away. The address must name
// the database. Whatever it says of reads and writes, reads go to the primary and writes wait for a majority.
func Open(uri string, o Options) (*Store, error) {
	address, err := connstring.ParseAndValidate(uri)
	if err != nil {
		return nil, fmt.Errorf("documents address: %w", err)
	}
	if address.Database == "" {
		return nil, errors.New("documents address: no database; expected mongodb://HOST/DATABASE")
	}
	if o.Namespace == "" {
		return nil, errors.New("documents: no namespace")
	}
	client, err := mongo.Connect(clientOptions(uri, o))
	if err != nil {
		return nil, fmt.Errorf("connect to documents: %w", err)
	}
	db := client.Database(address.Database)
	return &Store{client: client, db: db, ledger: db.Collection(o.Namespace + "_erasures")}, nil
}

func clientOptions(uri string, o Options) *options.ClientOptions {
	c := options.Client().ApplyURI(uri)
	if c.TLSConfig != nil && o.Roots != nil && c.TLSConfig.RootCAs == nil {
		c.TLSConfig.RootCAs = o.Roots
	}
	return c.
		SetReadPreference(readpref.Primary()).
		SetWriteConcern(writeconcern.Majority()).
		SetServerSelectionTimeout(cmp.Or(o.SelectionTimeout, 3*time.Second)).
		SetTimeout(cmp.Or(o.Timeout, 30*time.Second))
}

// Close ends the connections.
func (s *Store) Close(ctx context.Context) error { return s.client.Disconnect(ctx) }

// Ping reads from the ledger: an answer to the protocol's own ping does not say that the store can be read.
func (s *Store) Ping(ctx context.Context) error {
	err := s.ledger.FindOne(ctx, bson.D{{Key: "_id", Value: "ping"}}).Err()
	if err == nil || errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return fault("ping documents", err)
}
