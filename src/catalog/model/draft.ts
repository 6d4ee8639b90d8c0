// A catalog that is being linked, as far as it has come.
import type { RuleSet } from './rule-set.ts'
import type { Complaints } from './complaints.ts'
import type { ModelBundle, ModelPackage } from './model.ts'

/** What the steps of one conversion share. */
export interface Draft {
  readonly ruleSet: RuleSet
  readonly packages: Map<string, ModelPackage>
  /** Bundle blobs by package and name. */
  readonly bundles: Map<string, Map<string, ModelBundle>>
  /** Packages that have had their deprecations blob. */
  readonly deprecated: Set<string>
  readonly complaints: Complaints
}
