// Limits what findings reveal about images that catalog-bot reads with its own credentials. Otherwise, an author could
// reference any image that these credentials can pull and read its content in the findings. Shows only the catalog's
// side.
import type { BundleDifference } from '@catalog-bot/bundle/render/render-bundle'
import { bundleRules } from '@catalog-bot/bundle/rules'
import type { Finding } from '@catalog-bot/findings/finding'
import type { BundleInstallAnalysis } from '../install/install-analysis.ts'

const hiddenDetailsNotice =
  'details are hidden, because readers of this page might not have access to the image'

export interface BundleDifferenceDescription {
  readonly isIdentity: boolean
  readonly description: string
}

const bundleRuleTitleById: ReadonlyMap<string, string> = new Map(
  bundleRules.map(({ id, title }) => [id, title]),
)

/** Each violated rule once per severity, without locations, values, or names from the image. */
export function redactBundleFindings(findings: readonly Finding[], reference: string): readonly Finding[] {
  const once = new Map(findings.map((one) => [`${one.rule} ${one.severity}`, one]))
  return [...once.values()].map(({ rule, severity }) => ({
    rule,
    severity,
    what: `the bundle violates the rule "${bundleRuleTitleById.get(rule) ?? rule}"`,
    why: 'catalog-bot hides the details of this image because readers of this page might not have access to it.',
    fix: `To see the details, run: catalog-bot bundle validate ${reference}`,
    data: {},
  }))
}

/** Shows differences in what the catalog states and only counts the rest. */
export function redactBundleDifferences(
  differences: readonly BundleDifference[],
): readonly BundleDifferenceDescription[] {
  const described: BundleDifferenceDescription[] = []
  const unsaid = { identity: 0, other: 0 }
  for (const { field, catalog, isIdentity } of differences)
    if (catalog !== undefined)
      described.push({ isIdentity, description: `${field} ${catalog} differs from the image` })
    else if (isIdentity) unsaid.identity += 1
    else unsaid.other += 1
  if (unsaid.identity > 0)
    described.push({
      isIdentity: true,
      description: 'the image has a name, version, or package that the catalog lacks',
    })
  if (unsaid.other > 0)
    described.push({
      isIdentity: false,
      description: `the image has ${unsaid.other} ${unsaid.other === 1 ? 'property or related image' : 'properties and related images'} that the catalog lacks`,
    })
  return described
}

/**
 * Limits facts about a private bundle to public information: the kind and number of problems, without names or values.
 */
export function redactBundleInstallAnalysis(
  facts: BundleInstallAnalysis,
  reference: string,
): BundleInstallAnalysis {
  const { unpacked, rendering } = facts
  const redact = (findings: BundleInstallAnalysis['invalid']) => redactBundleFindings(findings, reference)
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
