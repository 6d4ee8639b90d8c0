// Named sets of rules that are enabled on request, modeled on the optional validators of `operator-sdk bundle validate`.

export const suiteNames = [
  'operatorhub',
  'capabilities',
  'categories',
  'good-practices',
  'deprecated-apis',
  'community',
  'multiarch',
  'objects',
  'openshift',
] as const

export type RuleSuite = (typeof suiteNames)[number]
