// The process with the kubeconfigs. It runs one order at a time for one repository, and reads no catalog or bundle.
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { systemClock } from '../../examine/system-clock.ts'
import { answerOrders, type CallBack } from '../../workers/answer-orders.ts'
import { guardProcess } from '../../workers/guarded-process.ts'
import { parseClusterTargets, type ClusterTarget } from './cluster-targets.ts'
import { doTrialOrder } from './do-trial-order.ts'
import type { NewsAnswer, TrialAnswer, TrialOrder } from './trial-order.ts'

const list = process.env['CLUSTER_TARGETS'] ?? ''

async function work(order: TrialOrder, callBack: CallBack): Promise<TrialAnswer> {
  let targets: readonly ClusterTarget[]
  try {
    // Read each time, so that a changed list takes effect.
    targets = list === '' ? [] : parseClusterTargets(await readFile(list, 'utf8'))
  } catch (error) {
    return {
      kind: 'failed',
      why:
        error instanceof Error && error.message.startsWith('CLUSTER_TARGETS')
          ? error.message
          : 'CLUSTER_TARGETS cannot be read',
    }
  }
  const open = async ({ kubeconfig, context, allowPrograms }: ClusterTarget) => {
    // Loaded on demand: it is slow, and many Apps have no cluster.
    const { openCluster } = await import('../../cluster/open-cluster.ts')
    const file = resolve(dirname(list), kubeconfig)
    return openCluster({ file, context, allowsPrograms: allowPrograms, clock: systemClock })
  }
  return doTrialOrder(
    order,
    { targets, open, clock: systemClock },
    async (news) => (await callBack(news)) as NewsAnswer,
  )
}

guardProcess()
answerOrders(work)
