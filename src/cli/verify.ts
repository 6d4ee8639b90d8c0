// `verify IMAGE --key F`: verifies that an image is signed with a key, and prints its provenance. Exit code 0: verified; 1: not
// verified; 2: the command could not run.
import { readFileSync } from 'node:fs'
import { parseImageReference, type ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { parseVerifyingKeyPem } from '../adapters/image/provenance/signing-key.ts'
import { parseRepositoryName } from '../adapters/image/provenance/signature-formats.ts'
import { verifyImage, type ImageVerification } from '../adapters/image/provenance/verify-image.ts'
import { setExitCode, printToStdout } from './output.ts'
import { requireImageReferenceSyntax, withRegistryClient } from './pulled-bundles.ts'

export interface VerifyCommandOptions {
  readonly key: string
  readonly signedAs?: string
  /** False with `--no-recursive`. */
  readonly recursive: boolean
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

export async function runVerify(name: string, options: VerifyCommandOptions): Promise<void> {
  const reference = requireImageReference(name)
  const { signedAs, recursive } = options
  if (signedAs !== undefined && parseRepositoryName(signedAs) === undefined)
    throw new Error(`--signed-as must be a repository, but is "${escapeNonPrintableCharacters(signedAs)}"`)
  const key = parseVerifyingKeyPem(readFileSync(options.key, 'utf8'))
  const found = await withRegistryClient(options.insecureRegistry, (registry) =>
    verifyImage(registry, reference, key, { recursive, ...(signedAs !== undefined && { signedAs }) }),
  )
  const isVerified = isVerificationPassed(found)
  if (options.output === 'json')
    printToStdout(JSON.stringify({ image: name, verified: isVerified, ...found }))
  else
    for (const line of generateVerificationLines(name, found))
      printToStdout(escapeNonPrintableCharacters(line))
  setExitCode(isVerified ? 0 : 1)
}

/**
 * The image and its platforms must be signed. If there are attestations, one must be signed with the key, because anyone
 * can attach others.
 */
function isVerificationPassed({
  signatures,
  platforms,
  provenance,
  refusedAttestations,
}: ImageVerification): boolean {
  const isSigned = [signatures, ...platforms.map((one) => one.signatures)].every((count) => count > 0)
  return isSigned && (provenance.length > 0 || refusedAttestations.length === 0)
}

function* generateVerificationLines(name: string, found: ImageVerification): Generator<string> {
  yield `${name} is ${found.digest}`
  yield found.signatures > 0 ? 'Signed with this key.' : 'Not signed with this key.'
  for (const why of found.refused) yield `  Ignored a signature: ${why}.`
  for (const { platform, digest, signatures, refused } of found.platforms) {
    yield `${platform || 'A manifest in the index'}, ${digest}: ${signatures > 0 ? 'signed' : 'not signed'} with this key.`
    for (const why of refused) yield `  Ignored a signature: ${why}.`
  }
  if (found.provenance.length === 0) yield 'No provenance signed with this key.'
  for (const { builder, sources } of found.provenance) {
    yield `Built by ${builder ?? 'an unnamed builder'}`
    for (const source of sources) yield `  from ${source}`
  }
  for (const why of found.refusedAttestations) yield `  Ignored an attestation: ${why}.`
}

/** Throws if `name` is not an image reference. */
export function requireImageReference(name: string): ImageReference {
  requireImageReferenceSyntax(name)
  const { reference, reason } = parseImageReference(name)
  if (!reference) throw new Error(`"${name}" is not an image reference: ${reason}`)
  return reference
}
