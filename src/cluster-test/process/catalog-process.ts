// Serves one catalog of a mirror over gRPC during an install test. It reads untrusted input, so it holds no secrets.
import { buildServedCatalog, parseServedCatalogFile } from '@catalog-bot/fbc/api/served-catalog'
import type { TreeSha } from '../../pull-request/ids.ts'
import { createReadOnlyMirrorOpener } from '../../adapters/git/mirror.ts'
import { startGrpcServer } from '@catalog-bot/fbc-server/grpc-server'
import {
  serveWorkerRequests,
  type ParentProcessRequestSender,
  preventPrototypePollution,
} from '../../adapters/workers/answer-orders.ts'
import { readCatalogFiles, UnusableCatalogError } from '../../publish/process/catalog-files.ts'

export interface ServeCatalogRequest {
  readonly mirror: string
  readonly tree: TreeSha
  readonly root: string
  readonly port: number
}

/** `served`: until the caller no longer needed it. */
export type ServeCatalogResponse =
  { readonly kind: 'served' } | { readonly kind: 'failed'; readonly why: string }

const openReadOnlyGitMirror = createReadOnlyMirrorOpener()
const catalogServerCloseTimeoutMs = 1000

async function serveCatalogToCluster(
  { mirror, tree, root, port }: ServeCatalogRequest,
  callBack: ParentProcessRequestSender,
): Promise<ServeCatalogResponse> {
  try {
    const files = await readCatalogFiles(await openReadOnlyGitMirror(mirror), tree, root)
    const read = buildServedCatalog(
      files.map(({ path, bytes }) => ({ path, file: parseServedCatalogFile(bytes) })),
    )
    if (!read.ok) return { kind: 'failed', why: `opm cannot serve the catalog: ${read.error.slice(0, 500)}` }
    const server = await startGrpcServer(read.value, { host: '0.0.0.0', port })
    try {
      await callBack({ port: server.port })
    } finally {
      await server.close(catalogServerCloseTimeoutMs)
    }
    return { kind: 'served' }
  } catch (error) {
    if (error instanceof UnusableCatalogError) return { kind: 'failed', why: error.message }
    throw error
  }
}

preventPrototypePollution()
serveWorkerRequests(serveCatalogToCluster)
