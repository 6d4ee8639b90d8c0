// Limits facts about a private bundle to public information: the kind and number of problems, without names or values.
// images/restricted-bundle.ts contains the reason.
import { redactBundleFindings } from '../images/redact-restricted-bundle.ts'
import type { BundleInstallFacts } from './install-facts.ts'

const hiddenDetailsNotice =
  'details are hidden, because readers of this page might not have access to the image'

export function redactBundleInstallFacts(facts: BundleInstallFacts, reference: string): BundleInstallFacts {
  const { unpacked, rendering } = facts
  const redact = (findings: BundleInstallFacts['invalid']) => redactBundleFindings(findings, reference)
  const counted = (items: readonly string[], what: string) =>
    items.length === 0 ? [] : [`${items.length} ${what}: ${hiddenDetailsNotice}`]
  return {
    ...(facts.format !== undefined && { format: facts.format }),
    // The images check reports differences from the catalog.
    ...(unpacked && {
      unpacked: {
        ...unpacked,
        keys: unpacked.keys.map(() => ''),
        largest: [],
        problems: counted(unpacked.problems, 'unpacking problems'),
      },
    }),
    invalid: redact(facts.invalid),
    rendering: {
      ...(rendering.format !== undefined && { format: rendering.format }),
      refusals: counted(rendering.refusals, 'renderer errors'),
      open: counted(rendering.open, 'inconclusive renderer checks'),
      findings: redact(rendering.findings),
      kinds: [],
    },
    rukPak: counted(facts.rukPak, 'converter errors'),
    manifests: redact(facts.manifests),
    examples: redact(facts.examples),
    ...(facts.crds && { crds: facts.crds }),
    ...(facts.installModes && { installModes: facts.installModes }),
    ...(facts.exceededCrdLimit !== undefined && { exceededCrdLimit: facts.exceededCrdLimit }),
    isRestricted: true,
  }
}
