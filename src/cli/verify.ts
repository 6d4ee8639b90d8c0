// `verify IMAGE --key F`: whether an image is signed by a key, and what its provenance says. Exit 0 when it is, 1 when not,
// 2 when that could not be found out.
import { readFileSync } from 'node:fs'
import { parseImageReference, type ImageReference } from '../go/reference/image-reference.ts'
import { toPrintable } from '../findings/printable.ts'
import { openVerifyingKey } from '../image/provenance/signing-key.ts'
import { parseRepositoryName } from '../image/provenance/simple-signing.ts'
import { verifyImage, type ImageVerification } from '../image/provenance/verify-image.ts'
import { setExitCode, print } from './output.ts'
import { requireRegistry, withRegistry } from './pulled-bundles.ts'

export interface VerifyCommandOptions {
  readonly key: string
  readonly signedAs?: string
  /** False with `--no-recursive`. */
  readonly recursive: boolean
  readonly insecureRegistry?: readonly string[]
  readonly output: 'text' | 'json'
}

export async function verify(name: string, options: VerifyCommandOptions): Promise<void> {
  const reference = requireImageReference(name)
  const { signedAs, recursive } = options
  if (signedAs !== undefined && parseRepositoryName(signedAs) === undefined)
    throw new Error(`--signed-as is to be a repository, not "${toPrintable(signedAs)}"`)
  const key = openVerifyingKey(readFileSync(options.key, 'utf8'))
  const found = await withRegistry(options.insecureRegistry, (registry) =>
    verifyImage(registry, reference, key, { recursive, ...(signedAs !== undefined && { signedAs }) }),
  )
  const isVerified = passesVerification(found)
  if (options.output === 'json') print(JSON.stringify({ image: name, verified: isVerified, ...found }))
  else for (const line of formatVerification(name, found)) print(toPrintable(line))
  setExitCode(isVerified ? 0 : 1)
}

/** Signed with all below it, and not attested by others alone: those may say what they like. */
function passesVerification({
  signatures,
  platforms,
  provenance,
  refusedAttestations,
}: ImageVerification): boolean {
  const isSigned = [signatures, ...platforms.map((one) => one.signatures)].every((count) => count > 0)
  return isSigned && (provenance.length > 0 || refusedAttestations.length === 0)
}

function* formatVerification(name: string, found: ImageVerification): Generator<string> {
  yield `${name} is ${found.digest}`
  yield found.signatures > 0 ? 'Signed by this key.' : 'Not signed by this key.'
  for (const why of found.refused) yield `  A signature does not count: ${why}.`
  for (const { platform, digest, signatures, refused } of found.platforms) {
    yield `${platform || 'A manifest below it'}, ${digest}: ${signatures > 0 ? 'signed' : 'not signed'} by this key.`
    for (const why of refused) yield `  A signature does not count: ${why}.`
  }
  if (found.provenance.length === 0) yield 'No provenance by this key.'
  for (const { builder, sources } of found.provenance) {
    yield `Built by ${builder ?? 'somebody who gives no name'}`
    for (const source of sources) yield `  from ${source}`
  }
  for (const why of found.refusedAttestations) yield `  An attestation does not count: ${why}.`
}

/** Throws for what is no image. */
export function requireImageReference(name: string): ImageReference {
  requireRegistry(name)
  const { reference, reason } = parseImageReference(name)
  if (!reference) throw new Error(`"${name}" is no image reference: ${reason}`)
  return reference
}
