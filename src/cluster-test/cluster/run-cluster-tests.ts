// Runs the install tests of a package one at a time, because CRDs are cluster-scoped. Retries infrastructure failures
// twice, and sweeps what expired tests left behind.
import { randomBytes } from 'node:crypto'
import {
  defaultClusterTestDeadlines,
  type ClusterTestDeadlines,
} from '../../checks/install/cluster-test/cluster-test-state.ts'
import type { PlannedClusterTest } from '../../checks/install/cluster-test/cluster-test-plan.ts'
import { isRetryableClusterTestOutcome } from '../../checks/install/cluster-test/cluster-test-outcome.ts'
import {
  type ClusterTestPlan,
  defaultClusterTestQuota,
  type ClusterTestCatalogSource,
  type ClusterTestEgressAllowlist,
  type ClusterTestQuota,
} from '../../checks/install/cluster-test/cluster-test-plan.ts'
import type { ClusterTestReport } from '../../checks/install/cluster-test/cluster-test-report.ts'
import {
  runClusterTest,
  type ClusterTestOptions,
  cleanUpClusterTest,
  readClusterObjects,
} from './run-cluster-test.ts'
import {
  abandonedClusterTestQueries,
  findExpiredClusterTestIds,
} from '../../checks/install/cluster-test/clean-up.ts'

export interface ExpiredClusterTestSweepResult {
  readonly id: string
  readonly leftovers: readonly string[]
}

export interface ClusterTestEnvironment {
  readonly catalog: ClusterTestCatalogSource
  readonly base?: ClusterTestCatalogSource | undefined
  readonly pullSecret?: string | undefined
  readonly installerRole?: string | undefined
  readonly quota?: ClusterTestQuota | undefined
  readonly network?: ClusterTestEgressAllowlist | undefined
}

/** Seconds after all deadlines, when no process can still run the test. */
const clusterTestExpiryMarginSeconds = 600
const clusterTestIdCharacters = 'abcdefghijklmnopqrstuvwxyz0123456789'

export interface RunClusterTestsOptions extends ClusterTestOptions {
  readonly environment: ClusterTestEnvironment
  readonly onTrial?: (planned: PlannedClusterTest, attempt: number) => void
  /** Called before an attempt creates anything, so that a later process can find its objects. */
  readonly onPlan?: (plan: ClusterTestPlan) => Promise<void>
}

const maxTestAttempts = 3

export async function runClusterTests(
  tests: readonly PlannedClusterTest[],
  options: RunClusterTestsOptions,
): Promise<readonly ClusterTestReport[]> {
  const reports: ClusterTestReport[] = []
  for (const planned of tests) {
    if (options.signal?.aborted === true) break
    reports.push(await runClusterTestWithRetries(planned, options))
  }
  return reports
}

async function runClusterTestWithRetries(
  planned: PlannedClusterTest,
  options: RunClusterTestsOptions,
): Promise<ClusterTestReport> {
  const { clock, deadlines = defaultClusterTestDeadlines, environment, onTrial, onPlan, signal } = options
  for (let attempt = 1; ; attempt++) {
    onTrial?.(planned, attempt)
    const plan = buildClusterTestPlan(planned, environment, deadlines, clock.now())
    await onPlan?.(plan)
    const report = await runClusterTest(plan, options)
    const isOver =
      attempt >= maxTestAttempts || !isRetryableClusterTestOutcome(report.outcome) || signal?.aborted === true
    // Remaining objects would interfere with the next attempt.
    if (isOver || report.leftovers.length > 0) return report
  }
}

export function buildClusterTestPlan(
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

/** Deletes the objects of install tests that were killed. Finds them only by the test label and the expiry time. */
export async function sweepExpiredClusterTests(
  options: ClusterTestOptions,
): Promise<readonly ExpiredClusterTestSweepResult[]> {
  const seen = await readClusterObjects(options.cluster, abandonedClusterTestQueries, [])
  const swept: ExpiredClusterTestSweepResult[] = []
  for (const id of findExpiredClusterTestIds(seen, options.clock.now())) {
    const { leftovers } = await cleanUpClusterTest(id, options)
    swept.push({ id, leftovers })
  }
  return swept
}
