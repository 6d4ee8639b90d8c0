// Limits facts about a private bundle to what may be public: the kind and number of problems, no names or values.
// (images/restricted-bundle.ts says why.)
import { withoutFindingDetails } from '../images/restricted-bundle.ts'
import type { BundleFacts } from './bundle-facts.ts'

const hidden = 'details are not shown here, for readers of this page may have no access to the image'

export function withoutDetails(facts: BundleFacts, reference: string): BundleFacts {
  const { unpacked, rendering } = facts
  const bare = (findings: BundleFacts['invalid']) => withoutFindingDetails(findings, reference)
  const counted = (texts: readonly string[], what: string) =>
    texts.length === 0 ? [] : [`${texts.length} ${what}: ${hidden}`]
  return {
    ...(facts.format !== undefined && { format: facts.format }),
    // The images check reports differences from the catalog.
    ...(unpacked && {
      unpacked: {
        ...unpacked,
        keys: unpacked.keys.map(() => ''),
        largest: [],
        problems: counted(unpacked.problems, 'problems of unpacking'),
      },
    }),
    invalid: bare(facts.invalid),
    rendering: {
      ...(rendering.format !== undefined && { format: rendering.format }),
      refusals: counted(rendering.refusals, 'reasons of the renderer'),
      open: counted(rendering.open, 'questions of the renderer'),
      findings: bare(rendering.findings),
      kinds: [],
    },
    rukPak: counted(facts.rukPak, 'reasons of its converter'),
    manifests: bare(facts.manifests),
    examples: bare(facts.examples),
    ...(facts.crds && { crds: facts.crds }),
    ...(facts.installModes && { installModes: facts.installModes }),
    ...(facts.largestCrds !== undefined && { largestCrds: facts.largestCrds }),
    isRestricted: true,
  }
}
