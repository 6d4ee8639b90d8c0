// Limits what we report about images that the bot reads with its own credentials: otherwise an author could name any
// image that the operator can reach and read it in our answer. We show the catalog's side only.
import type { BundleDifference } from '../../bundle/render/compare-with-image.ts'
import { bundleRules } from '../../bundle/rules.ts'
import type { Finding } from '../../findings/finding.ts'

export interface DescribedDifference {
  readonly isIdentity: boolean
  readonly description: string
}

const titleByRule: ReadonlyMap<string, string> = new Map(bundleRules.map(({ id, title }) => [id, title]))

/** Each broken rule once per severity, without place, values or names from the image. */
export function redactFindings(findings: readonly Finding[], reference: string): readonly Finding[] {
  const once = new Map(findings.map((one) => [`${one.rule} ${one.severity}`, one]))
  return [...once.values()].map(({ rule, severity }) => ({
    rule,
    severity,
    what: `the bundle breaks the rule "${titleByRule.get(rule) ?? rule}"`,
    why: 'The bot does not show details of this image: readers of this page may have no access to it.',
    fix: `Run: catalog-bot bundle validate ${reference}`,
    data: {},
  }))
}

/** Shows differences in what the catalog states and only counts the rest. */
export function redactDifferences(differences: readonly BundleDifference[]): readonly DescribedDifference[] {
  const described: DescribedDifference[] = []
  const unsaid = { identity: 0, other: 0 }
  for (const { field, catalog, isIdentity } of differences)
    if (catalog !== undefined)
      described.push({ isIdentity, description: `${field} ${catalog} differs from the image` })
    else if (isIdentity) unsaid.identity += 1
    else unsaid.other += 1
  if (unsaid.identity > 0)
    described.push({
      isIdentity: true,
      description: 'the image has a name, version or package that the catalog lacks',
    })
  if (unsaid.other > 0)
    described.push({
      isIdentity: false,
      description: `the image has ${unsaid.other} ${unsaid.other === 1 ? 'property or related image' : 'properties and related images'} that the catalog lacks`,
    })
  return described
}
