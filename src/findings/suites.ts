// Sets of rules that are asked for by name, after the optional validators of `operator-sdk bundle validate`.

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
