import type { OpmRuleSet } from './rule-set.ts'
import type { ProblemCollector } from './problem-collector.ts'
import type { ModelBundle, ModelPackage } from './model.ts'

/** The state that the steps of one conversion share. */
export interface ModelConversionState {
  readonly ruleSet: OpmRuleSet
  readonly packages: Map<string, ModelPackage>
  /** By package, then by name. */
  readonly bundles: Map<string, Map<string, ModelBundle>>
  /** Packages that already have a deprecations blob. */
  readonly deprecated: Set<string>
  readonly problems: ProblemCollector
}
