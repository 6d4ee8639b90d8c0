// `sign IMAGE --key F`: signs an image in cosign's format and attaches the signature in the image's registry. Exit code 0: the
// image is signed; 2: the command could not run.
import { readFileSync } from 'node:fs'
import { systemClock } from '../adapters/system-clock.ts'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { attachManifest } from '../adapters/image/attach-manifest.ts'
import { openImagePusher } from '../adapters/image/open-pusher.ts'
import { fetchArtifactSubject } from '../adapters/image/provenance/provenance-artifacts.ts'
import { createMissingSignatureAttachments } from '../adapters/image/provenance/attest-image.ts'
import { parseSigningKeyPem } from '../adapters/image/provenance/signing-key.ts'
import { readRegistryAccess } from '../adapters/registry/registry-access.ts'
import { setExitCode, printToStdout } from './output.ts'
import { withRegistryClient } from './pulled-bundles.ts'
import { requireImageReference } from './verify.ts'

export interface SignCommandOptions {
  readonly key: string
  readonly passwordVariable: string
  /** False with `--no-recursive`. */
  readonly recursive: boolean
  readonly insecureRegistry?: readonly string[]
}

export async function runSign(name: string, options: SignCommandOptions): Promise<void> {
  const reference = requireImageReference(name)
  const key = await parseSigningKeyPem(
    readFileSync(options.key, 'utf8'),
    process.env[options.passwordVariable],
  )
  const { credentials, egress } = await readRegistryAccess(process.env, options.insecureRegistry)
  const pusher = openImagePusher({ clock: systemClock, credentials, egress })
  try {
    const signed = await withRegistryClient(options.insecureRegistry, async (registry) => {
      const subject = await fetchArtifactSubject(registry, reference)
      const missing = await createMissingSignatureAttachments(registry, subject, key, options.recursive)
      for (const attachment of missing) await attachManifest(registry, pusher, attachment)
      return { digest: subject.digest, isNew: missing.length > 0 }
    })
    const verb = signed.isNew ? 'Signed' : 'Already signed'
    printToStdout(
      escapeNonPrintableCharacters(`${verb}: ${reference.host}/${reference.repository}@${signed.digest}`),
    )
    setExitCode(0)
  } finally {
    await pusher.close()
  }
}
