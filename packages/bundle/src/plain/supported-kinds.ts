// The kinds of objects that OLM v0 and OLM v1 accept in a bundle.

// The kinds that OLM v0 installs. Excludes `PodMonitor`, which opm accepts although the install plan fails.
export const installableObjectKinds: ReadonlySet<string> = new Set([
  'ClusterServiceVersion',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'ServiceAccount',
  'Service',
  'Secret',
  'ConfigMap',
  'PrometheusRule',
  'ServiceMonitor',
  'PodDisruptionBudget',
  'PriorityClass',
  'VerticalPodAutoscaler',
  'ConsoleYAMLSample',
  'ConsoleQuickStart',
  'ConsoleCLIDownload',
  'ConsoleLink',
  'ConsolePlugin',
  'NetworkPolicy',
])

// The kinds of objects that a registry+v1 bundle can contain according to operator-registry (pkg/lib/bundle), and
// whether OLM v1 puts them into the install namespace. VerticalPodAutoscaler is namespaced, but OLM v1 follows this
// list, which contradicts that.
const isNamespacedByKind: ReadonlyMap<string, boolean> = new Map([
  ['ClusterServiceVersion', true],
  ['CustomResourceDefinition', false],
  ['ClusterRole', false],
  ['ClusterRoleBinding', false],
  ['Service', true],
  ['ServiceAccount', true],
  ['Role', true],
  ['RoleBinding', true],
  ['PrometheusRule', true],
  ['ServiceMonitor', true],
  ['Secret', true],
  ['ConfigMap', true],
  ['PodDisruptionBudget', true],
  ['PriorityClass', false],
  ['VerticalPodAutoscaler', false],
  ['ConsoleYAMLSample', false],
  ['ConsoleQuickStart', false],
  ['ConsoleCLIDownload', false],
  ['ConsoleLink', false],
  ['ConsolePlugin', false],
  ['NetworkPolicy', true],
  ['PodMonitor', true],
])

/** Whether objects of a kind go into the install namespace. Undefined if OLM v1 rejects the kind. */
export function isNamespacedKind(kind: string): boolean | undefined {
  return isNamespacedByKind.get(kind)
}
