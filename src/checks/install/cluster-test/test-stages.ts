// What the stages of all kinds of install tests share: reading one observation, and the possible results of a stage.
import {
  createFailedClusterTestProgress,
  createFinalClusterTestProgress,
  createWaitingClusterTestProgress,
  transitionToClusterTestStage,
  type ClusterTestDeadlines,
  type ClusterTestProgress,
  type ClusterTestState,
} from './cluster-test-state.ts'
import {
  findDeploymentFailure,
  findDeploymentPods,
  findPodFailure,
  isDeploymentAvailable,
  operatorPodFailureCodes,
} from './classify-pods.ts'
import { createTestNamespace } from './cluster-test-objects.ts'
import type { ClusterTestFailure, ClusterTestOutcome } from './cluster-test-outcome.ts'
import type { ClusterTestPlan } from './cluster-test-plan.ts'
import {
  getObservedKubeObject,
  getObservedKubeObjects,
  toKubeObjectQuery,
  type ClusterAction,
  type ClusterObservation,
  type KubeObject,
  type KubeQuery,
} from './kube-object.ts'

export interface ClusterTestSetup<Queries> {
  readonly plan: ClusterTestPlan
  readonly deadlines: ClusterTestDeadlines
  readonly queries: Queries
}

/** The Deployments of the Operator under test, and their pods. */
export interface ObservedWorkloads {
  readonly deployments: readonly KubeObject[]
  readonly pods: readonly KubeObject[]
  readonly unavailable: readonly KubeObject[]
  readonly failure: ClusterTestFailure | undefined
}

/** The stages of one kind of install test, at one observation. */
export class ClusterTestStageRunner<
  Stage extends string,
  Queries extends { readonly namespace: KubeQuery; readonly crds: readonly KubeQuery[] },
> {
  protected readonly plan: ClusterTestPlan
  protected readonly deadlines: ClusterTestDeadlines
  protected readonly queries: Queries
  protected readonly state: ClusterTestState<Stage>
  protected readonly observation: ClusterObservation
  protected readonly now: number

  constructor(
    { plan, deadlines, queries }: ClusterTestSetup<Queries>,
    state: ClusterTestState<Stage>,
    observation: ClusterObservation,
    now: number,
  ) {
    this.plan = plan
    this.deadlines = deadlines
    this.queries = queries
    this.state = state
    this.observation = observation
    this.now = now
  }

  protected get wantedStep() {
    return this.plan.steps[this.state.step]
  }

  /** Milliseconds since the stage began. */
  protected get waited(): number {
    return this.now - this.state.since
  }

  /** When a failure must have begun to count as final. */
  protected get retriesBegan(): number {
    return this.now - this.deadlines.retryWindow
  }

  protected find(query: KubeQuery): KubeObject | undefined {
    return getObservedKubeObject(this.observation, query)
  }

  protected list(query: KubeQuery): readonly KubeObject[] {
    return getObservedKubeObjects(this.observation, query)
  }

  protected wait(waitsFor: string, actions: readonly ClusterAction[] = [], state = this.state) {
    return createWaitingClusterTestProgress(state, waitsFor, actions)
  }

  protected fail(failure: ClusterTestFailure, state = this.state) {
    return createFailedClusterTestProgress(state, this.now, failure)
  }

  protected finish(outcome: ClusterTestOutcome, state = this.state) {
    return createFinalClusterTestProgress(state, this.now, outcome)
  }

  protected moveTo(
    stage: Stage,
    message: string,
    actions: readonly ClusterAction[] = [],
    memory: ClusterTestState['memory'] = {},
    state = this.state,
  ) {
    return transitionToClusterTestStage(state, stage, this.now, message, actions, memory)
  }

  /** Fails if the test would change existing objects. `consequence`: what would happen to an existing CRD. */
  protected rejectExistingCrds(consequence: string): ClusterTestProgress<Stage> | undefined {
    const there = this.queries.crds.find((query) => this.find(query) !== undefined)
    return there && !this.find(this.queries.namespace)
      ? this.fail({
          code: 'crd-preexists',
          says: `the cluster already has the CRD ${there.name ?? ''}. ${consequence}`,
        })
      : undefined
  }

  protected createNamespace(next: Stage, consequence: string, memory?: ClusterTestState['memory']) {
    const existing = this.rejectExistingCrds(consequence)
    if (existing) return existing
    const namespace = this.find(this.queries.namespace)
    return namespace
      ? this.moveTo(next, `namespace ${namespace.metadata.name} exists`, [], memory)
      : this.wait('waiting for the namespace', [{ kind: 'create', object: createTestNamespace(this.plan) }])
  }

  protected createMissing(wanted: readonly KubeObject[]): ClusterTestProgress<Stage> | undefined {
    const missing = wanted.filter((object) => this.find(toKubeObjectQuery(object)) === undefined)
    return missing.length === 0
      ? undefined
      : this.wait(
          'waiting for the prerequisites of the install test',
          missing.map((object) => ({ kind: 'create', object })),
        )
  }

  protected observeWorkloads(
    deployments: readonly KubeObject[],
    pods: readonly KubeObject[],
  ): ObservedWorkloads {
    return {
      deployments,
      pods,
      unavailable: deployments.filter((one) => !isDeploymentAvailable(one)),
      failure:
        findDeploymentFailure(deployments) ??
        findPodFailure(findDeploymentPods(deployments, pods), operatorPodFailureCodes),
    }
  }
}
