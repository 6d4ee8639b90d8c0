import type { PlannedClusterTest } from '../../src/checks/install/cluster-test/cluster-test-plan.ts'

/** Installs package foo from its stable channel, with OLM v0. */
export const createPlannedClusterTest = (more: Partial<PlannedClusterTest> = {}): PlannedClusterTest => ({
  target: 'OLM v0',
  package: 'foo',
  channel: 'stable',
  mode: 'AllNamespaces',
  steps: [],
  crds: [],
  isUpgrade: false,
  ...more,
})
