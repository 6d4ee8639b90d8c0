// All rules about bundle contents. Made by `npm run rule-pages`: edit the rules, not this list.
import { collectRules, type AnyFindingRule } from '@catalog-bot/findings/rule'
import * as annotations from './rules/annotations.ts'
import * as catalogPage from './rules/catalog-page.ts'
import * as crds from './rules/crds.ts'
import * as deployments from './rules/deployments.ts'
import * as examples from './rules/examples.ts'
import * as kubernetesVersions from './rules/kubernetes-versions.ts'
import * as objects from './rules/objects.ts'
import * as reportedRules from './rules/reported-rules.ts'
import * as versions from './rules/versions.ts'

/** The rules of ./rules, sorted by id. */
export const bundleRules: readonly AnyFindingRule[] = collectRules([
  annotations,
  catalogPage,
  crds,
  deployments,
  examples,
  kubernetesVersions,
  objects,
  reportedRules,
  versions,
])
