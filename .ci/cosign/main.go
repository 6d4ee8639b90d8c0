// Verifies a release's signatures with the code of cosign. It takes the arguments that scripts/release.ts gives to the command
// `cosign`, which checks the same but takes four times as long to build: it includes the clients of key management services,
// the Kubernetes client, and two policy languages.
package main

import (
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/sigstore/cosign/v2/pkg/cosign"
	"github.com/sigstore/cosign/v2/pkg/oci/static"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

// The names in the package of cosign's command, which includes all of the above.
var predicateTypes = map[string]string{"slsaprovenance1": "https://slsa.dev/provenance/v1"}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("a command is required")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	key := flags.String("key", "", "file of the public key")
	signatureFile := flags.String("signature", "", "file of the signature")
	predicateType := flags.String("type", "", "name of the predicate's type")
	ignoreTlog := flags.Bool("insecure-ignore-tlog", false, "accept signatures without a transparency log entry")
	isHTTP := flags.Bool("allow-http-registry", false, "accept a registry without TLS")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	pem, err := os.ReadFile(*key)
	if err != nil {
		return err
	}
	publicKey, err := cryptoutils.UnmarshalPEMToPublicKey(pem)
	if err != nil {
		return err
	}
	verifier, err := signature.LoadVerifier(publicKey, crypto.SHA256)
	if err != nil {
		return err
	}
	options := &cosign.CheckOpts{SigVerifier: verifier, IgnoreTlog: *ignoreTlog}
	switch args[0] {
	case "verify":
		return verifyImage(ctx, flags.Arg(0), *isHTTP, options)
	case "verify-blob":
		return verifyBlob(ctx, flags.Arg(0), *signatureFile, options)
	case "verify-blob-attestation":
		return verifyAttestation(ctx, flags.Arg(0), *signatureFile, *predicateType, options)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

func verifyImage(ctx context.Context, image string, isHTTP bool, options *cosign.CheckOpts) error {
	var nameOptions []name.Option
	if isHTTP {
		nameOptions = append(nameOptions, name.Insecure)
	}
	reference, err := name.ParseReference(image, nameOptions...)
	if err != nil {
		return err
	}
	options.ClaimVerifier = cosign.SimpleClaimVerifier
	_, _, err = cosign.VerifyImageSignatures(ctx, reference, options)
	return err
}

func verifyBlob(ctx context.Context, file, signatureFile string, options *cosign.CheckOpts) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	encoded, err := os.ReadFile(signatureFile)
	if err != nil {
		return err
	}
	signed, err := static.NewSignature(content, string(encoded))
	if err != nil {
		return err
	}
	_, err = cosign.VerifyBlobSignature(ctx, signed, options)
	return err
}

func verifyAttestation(ctx context.Context, file, envelopeFile, predicateType string, options *cosign.CheckOpts) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	envelope, err := os.ReadFile(envelopeFile)
	if err != nil {
		return err
	}
	attestation, err := static.NewAttestation(envelope)
	if err != nil {
		return err
	}
	digest, _, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		return err
	}
	options.ClaimVerifier = cosign.IntotoSubjectClaimVerifier
	if _, err := cosign.VerifyBlobAttestation(ctx, attestation, digest, options); err != nil {
		return err
	}
	var verified struct{ Payload []byte }
	if err := json.Unmarshal(envelope, &verified); err != nil {
		return err
	}
	var statement struct{ PredicateType string }
	if err := json.Unmarshal(verified.Payload, &statement); err != nil {
		return err
	}
	if statement.PredicateType != predicateTypes[predicateType] {
		return fmt.Errorf("invalid predicate type, expected %s got %s", predicateType, statement.PredicateType)
	}
	return nil
}
