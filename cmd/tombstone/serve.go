package main

import (
	"github.com/tombstone-project/tombstone/internal/app"
)

// serveCmd runs services against real stores.
type serveCmd struct {
	Role string `arg:"" enum:"dependency,asset,all" help:"dependency, asset or all."`
	commonFlags
	TLSCert           string `name:"tls-cert" placeholder:"FILE" help:"Certificate of the listener, in PEM (TOMBSTONE_TLS_CERT)."`
	TLSKey            string `name:"tls-key" placeholder:"FILE" help:"Its key (TOMBSTONE_TLS_KEY)."`
	CA                string `name:"ca" placeholder:"FILE" help:"Authorities that connections trust besides the system's (TOMBSTONE_CA)."`
	GraphURI          string `name:"graph-uri" placeholder:"URI" help:"neo4j://…, bolt://…, or sqlite:// and an absolute path (TOMBSTONE_GRAPH_URI)."`
	GraphUser         string `placeholder:"NAME" help:"TOMBSTONE_GRAPH_USER."`
	GraphPasswordFile string `placeholder:"FILE" help:"TOMBSTONE_GRAPH_PASSWORD_FILE."`
	GraphDatabase     string `placeholder:"NAME" help:"TOMBSTONE_GRAPH_DATABASE."`
	DocumentsURI      string `name:"documents-uri" placeholder:"URI" help:"mongodb://…/DATABASE (TOMBSTONE_DOCUMENTS_URI)."`
	NATSURL           string `name:"nats-url" placeholder:"URL" help:"nats://HOST:4222 (TOMBSTONE_NATS_URL)."`
	NATSCreds         string `name:"nats-creds" placeholder:"FILE" help:"TOMBSTONE_NATS_CREDS."`
	MessageKeyFile    string `placeholder:"FILE" help:"Keys that sign messages between the services (TOMBSTONE_MESSAGE_KEY_FILE)."`
	StreamReplicas    string `placeholder:"N" help:"Replicas of streams, 1 to 5 (TOMBSTONE_STREAM_REPLICAS, default 1)."`
	BlobsEndpoint     string `placeholder:"URL" help:"S3 endpoint; empty: AWS (TOMBSTONE_BLOBS_ENDPOINT). Credentials come from the AWS SDK's usual chain."`
	BlobsRegion       string `placeholder:"NAME" help:"TOMBSTONE_BLOBS_REGION."`
}

// Help has examples.
func (*serveCmd) Help() string {
	return examples("tombstone serve all --config tombstone.yaml", "tombstone serve dependency --policy policy.yaml --graph-uri neo4j://graph:7687 --nats-url nats://broker:4222",
		"tombstone serve asset --config tombstone.yaml --log-level debug")
}

// storeFlags are the flags that were given, by the names of their settings.
func (c *serveCmd) storeFlags() map[string]string {
	return map[string]string{
		"TOMBSTONE_TLS_CERT": c.TLSCert, "TOMBSTONE_TLS_KEY": c.TLSKey, "TOMBSTONE_CA": c.CA,
		"TOMBSTONE_GRAPH_URI": c.GraphURI, "TOMBSTONE_GRAPH_USER": c.GraphUser, "TOMBSTONE_GRAPH_PASSWORD_FILE": c.GraphPasswordFile,
		"TOMBSTONE_GRAPH_DATABASE": c.GraphDatabase, "TOMBSTONE_DOCUMENTS_URI": c.DocumentsURI, "TOMBSTONE_NATS_URL": c.NATSURL,
		"TOMBSTONE_NATS_CREDS": c.NATSCreds, "TOMBSTONE_MESSAGE_KEY_FILE": c.MessageKeyFile, "TOMBSTONE_STREAM_REPLICAS": c.StreamReplicas, "TOMBSTONE_BLOBS_ENDPOINT": c.BlobsEndpoint,
		"TOMBSTONE_BLOBS_REGION": c.BlobsRegion,
	}
}

// Run serves until it is told to stop.
func (c *serveCmd) Run(p *program) error {
	cfg, err := c.load(c.storeFlags())
	if err != nil {
		return err
	}
	info := app.Info{Version: thisBuild().Version}
	return app.Serve(p.ctx, cfg, app.Role(c.Role), info, newLogger(p.err, cfg.LogLevel))
}
