// Serves one catalog of a mirror over gRPC during a trial. It reads untrusted input, so it holds no secrets.
import { servedCatalog } from '../../catalog/api/served-catalog.ts'
import { readServedFile } from '../../catalog/api/served-file.ts'
import type { TreeSha } from '../../change/ids.ts'
import { openGuestMirrors } from '../../git/guest-mirror.ts'
import { openGrpcServer } from '../../serving/grpc-server.ts'
import { answerOrders, type CallBack } from '../../workers/answer-orders.ts'
import { guardProcess } from '../../workers/guarded-process.ts'
import { readCatalogFiles, UnusableCatalog } from '../publishing/catalog-files.ts'

export interface ServeOrder {
  readonly mirror: string
  readonly tree: TreeSha
  readonly root: string
  readonly port: number
}

/** `served`: until the caller no longer needed it. */
export type ServeAnswer = { readonly kind: 'served' } | { readonly kind: 'failed'; readonly why: string }

const mirrorAt = openGuestMirrors()
const patience = 1000

async function serve({ mirror, tree, root, port }: ServeOrder, callBack: CallBack): Promise<ServeAnswer> {
  try {
    const files = await readCatalogFiles(await mirrorAt(mirror), tree, root)
    const read = servedCatalog(files.map(({ path, bytes }) => ({ path, file: readServedFile(bytes) })))
    if (!read.ok)
      return { kind: 'failed', why: `opm would not serve the catalog: ${read.error.slice(0, 500)}` }
    const server = await openGrpcServer(read.value, { host: '0.0.0.0', port })
    try {
      await callBack({ port: server.port })
    } finally {
      await server.close(patience)
    }
    return { kind: 'served' }
  } catch (error) {
    if (error instanceof UnusableCatalog) return { kind: 'failed', why: error.message }
    throw error
  }
}

guardProcess()
answerOrders(serve)
