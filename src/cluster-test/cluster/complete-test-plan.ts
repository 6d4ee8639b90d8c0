import { randomBytes } from 'node:crypto'
import type { ClusterTestDeadlines } from '../../checks/install/cluster-test/cluster-test-state.ts'
import {
  defaultClusterTestQuota,
  type TestCatalogSource,
  type ClusterTestAllowedEgress,
  type ClusterTestPlan,
  type ClusterTestQuota,
  type PlannedClusterTest,
} from '../../checks/install/cluster-test/cluster-test-plan.ts'

export interface ClusterTestEnvironment {
  readonly catalog: TestCatalogSource
  readonly base?: TestCatalogSource | undefined
  readonly pullSecret?: string | undefined
  readonly installerRole?: string | undefined
  readonly quota?: ClusterTestQuota | undefined
  readonly network?: ClusterTestAllowedEgress | undefined
}

/** Seconds after all deadlines, when no process can still run the test. */
const clusterTestExpiryMarginSeconds = 600
const clusterTestIdCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789'

export function completeClusterTestPlan(
  planned: PlannedClusterTest,
  environment: ClusterTestEnvironment,
  deadlines: ClusterTestDeadlines,
  now: number,
): ClusterTestPlan {
  const { isUpgrade, ...plannedTest } = planned
  const {
    catalog,
    base,
    pullSecret,
    installerRole = 'cluster-admin',
    quota = defaultClusterTestQuota,
    network,
  } = environment
  const maxDurationMs = deadlines.whole + deadlines.cleanUp + deadlines.namespace
  return {
    ...plannedTest,
    id: createClusterTestId(),
    catalog,
    ...(isUpgrade && base !== undefined && { base }),
    ...(pullSecret !== undefined && { pullSecret }),
    ...(network && { network }),
    installerRole,
    quota,
    expires: Math.ceil((now + maxDurationMs) / 1000) + clusterTestExpiryMarginSeconds,
  }
}

/** The id must be unique and impossible to guess. */
function createClusterTestId(): string {
  // 36 does not divide 256; the small bias is harmless in a name.
  return [...randomBytes(8)]
    .map((byte) => clusterTestIdCharacters[byte % clusterTestIdCharacters.length])
    .join('')
}
