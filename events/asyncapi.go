package events

import _ "embed"

// AsyncAPI describes every subject and message of this package, as AsyncAPI 3.0 in YAML.
//
//go:embed asyncapi.yaml
var AsyncAPI []byte
