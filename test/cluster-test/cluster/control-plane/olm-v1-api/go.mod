// OLM v1's newer release, of which only the CRDs are taken: one of the modules of its controllers is not on the module proxy.
module catalog-bot/control-plane/olm-v1-api

go 1.26.0

require github.com/operator-framework/operator-controller v1.11.0
