// `serve-catalog DIR|IMAGE`: serves a catalog over OLM's gRPC API and catalogd's HTTP API until a signal.
import { buildServedCatalog, parseServedCatalogFile } from '@catalog-bot/fbc/api/served-catalog'
import { systemClock } from '../adapters/system-clock.ts'
import { escapeNonPrintableCharacters, formatCountWithNoun } from '@catalog-bot/findings/printable'
import { formatHostAndPort, startGrpcServer } from '@catalog-bot/fbc-server/grpc-server'
import { startHttpServer } from '@catalog-bot/fbc-server/http-server'
import { readCatalogFiles } from './pulled-bundles.ts'
import { closeOnTerminationSignal, setExitCode, printToStdout, printToStderr } from './output.ts'

interface ServeCatalogOptions {
  readonly port: number
  readonly httpPort: number
  readonly host: string
  readonly insecureRegistry?: readonly string[]
}

/** Time for requests in progress to finish after a signal. Shorter than the grace period of a pod in Kubernetes. */
const shutdownTimeoutMs = 10_000

export async function serveCatalog(name: string, options: ServeCatalogOptions): Promise<void> {
  const { host, port, httpPort, insecureRegistry } = options
  const files = await readCatalogFiles(name, insecureRegistry)
  const read = buildServedCatalog(
    files.map(({ path, bytes }) => ({ path, file: parseServedCatalogFile(bytes()) })),
  )
  if (!read.ok) {
    printToStderr(`Error: ${escapeNonPrintableCharacters(name)} cannot be served: ${read.error}`)
    setExitCode(1)
    return
  }
  const grpc = await startGrpcServer(read.value, { host, port })
  const http = await startHttpServer(read.value.blobs, { host, port: httpPort, modified: systemClock.now() })
  closeOnTerminationSignal(() => Promise.all([grpc.close(shutdownTimeoutMs), http.close(shutdownTimeoutMs)]))
  const { index, blobs } = read.value
  const bundles = blobs.filter(({ schema }) => schema === 'olm.bundle')
  const counted = `${formatCountWithNoun(index.size, 'package')}, ${formatCountWithNoun(bundles.length, 'bundle')}`
  printToStdout(`Serving ${escapeNonPrintableCharacters(name)}: ${counted}`)
  printToStdout(`gRPC: ${formatHostAndPort(host, grpc.port)}`)
  printToStdout(`HTTP: http://${formatHostAndPort(host, http.port)}/api/v1/all`)
}
