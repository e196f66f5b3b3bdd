"""One life of an asset, by a client that was generated from /openapi.json: python check.py URL."""

import sys

from tombstone_client import Client
from tombstone_client.api.assets import get_asset, list_assets, put_asset
from tombstone_client.api.deletions import delete_asset, explain_deletion, get_deletion
from tombstone_client.api.documents import get_document, put_document
from tombstone_client.models import Deletion, LinkTo, ProblemDocument, PutBody, PutDocumentBody

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)
ID = "generated/🦊 50%"


def put(name, links=()):
    return put_asset.sync_detailed(name, client=client, body=PutBody(kind="mesh", links=list(links)))


created = put(ID)
assert created.status_code == 201 and created.parsed.status == "live", created
assert put(ID + "-needs", [LinkTo(type_="DEPENDS_ON", to=ID)]).status_code == 201

body = PutDocumentBody.from_dict({"title": "teapot"})
assert put_document.sync_detailed(ID, "description", client=client, body=body).status_code == 204
assert get_document.sync(ID, "description", client=client).to_dict() == {"title": "teapot"}
assert ID in [a.id for a in list_assets.sync(client=client).items]

refused = delete_asset.sync(ID, client=client)
assert isinstance(refused, ProblemDocument) and refused.type_ == "/problems/has-dependants", refused
assert refused.to_dict()["dependants"] == [ID + "-needs"], refused

gone = delete_asset.sync(ID, client=client, with_dependants=True, reason="by a generated client", prefer="wait=60")
assert isinstance(gone, Deletion) and gone.status == "deleted", gone
assert gone.assets.total == 2 and gone.steps[0].erased_at is not None, gone
assert get_deletion.sync(gone.id, client=client).to_dict() == gone.to_dict()
assert "completed" in explain_deletion.sync(gone.id, client=client).waits_for
assert get_asset.sync(ID, client=client).status == "deleted"

unknown = get_asset.sync_detailed("never-was", client=client)
assert unknown.status_code == 404 and unknown.parsed.type_ == "/problems/not-found", unknown
print("the generated client works")
