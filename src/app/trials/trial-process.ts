// The process that holds the clusters' kubeconfigs. It does orders, one at a time, for one GitHub repository only; it reads no
// catalog and no bundle, and says what it did in words.
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
    // Each time: a change of it takes effect with the next order.
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
    // The library takes a while to load, and many Apps have no cluster.
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
