// `serve-catalog DIR|IMAGE`: a catalog over OLM's gRPC API and catalogd's HTTP API, until it is told to stop. Exit 0 when
// it was, 1 for a catalog that opm would not serve, 2 when the command could not run.
import { statSync } from 'node:fs'
import { isIgnoreFile, selectFiles } from '../catalog/load/select-files.ts'
import { servedCatalog } from '../catalog/api/served-catalog.ts'
import { readServedFile, type ServedFile } from '../catalog/api/served-file.ts'
import { openCatalogDirectory } from '../examine/catalogs/catalog-directory.ts'
import { systemClock } from '../examine/system-clock.ts'
import { printable } from '../findings/printable.ts'
import { catalogDirectory, pullBundleOrCatalog } from '../registry/pull-bundle.ts'
import { openGrpcServer } from '../serving/grpc-server.ts'
import { openHttpServer } from '../serving/http-server.ts'
import { exitWith, print, say } from './output.ts'
import { mustNameRegistry, withRegistry } from './pulled-bundles.ts'

export interface ServeCatalogOptions {
  readonly port: string
  readonly httpPort: string
  readonly host: string
  readonly insecureRegistry?: readonly string[]
}

/** Milliseconds that calls under way have when it is told to stop: less than what Kubernetes gives a pod. */
const patience = 10_000

export async function serveCatalog(name: string, options: ServeCatalogOptions): Promise<void> {
  const [port, httpPort] = [portOf(options.port), portOf(options.httpPort)]
  const read = servedCatalog(await filesOf(name, options.insecureRegistry))
  if (!read.ok) {
    say(`Error: ${printable(name)} cannot be served: ${read.error.split('\n').map(printable).join('\n')}`)
    exitWith(1)
    return
  }
  const { host } = options
  const grpc = await openGrpcServer(read.value, { host, port })
  const http = await openHttpServer(read.value.blobs, { host, port: httpPort, modified: systemClock.now() })
  stopOnSignal(() => Promise.all([grpc.close(patience), http.close(patience)]))
  const { index, blobs } = read.value
  const counted = `${index.size} packages, ${blobs.filter(({ schema }) => schema === 'olm.bundle').length} bundles`
  print(`Serving ${printable(name)}: ${counted}`)
  print(`gRPC: ${addressOf(host, grpc.port)}`)
  print(`HTTP: http://${addressOf(host, http.port)}/api/v1/all`)
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Error(`a port is a number from 0 to 65535, not "${printable(text)}"`)
}

function addressOf(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Twice means at once. */
function stopOnSignal(close: () => Promise<unknown>): void {
  let isStopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (isStopping) process.exit(1)
      isStopping = true
      close().then(
        () => process.exit(0),
        () => process.exit(1),
      )
    })
}

type Files = { readonly path: string; readonly file: ServedFile }[]

/** A directory is read as opm reads it; anything else is an image, unpacked in a process of its own. */
async function filesOf(name: string, insecure: readonly string[] | undefined): Promise<Files> {
  if (statSync(name, { throwIfNoEntry: false })) return filesOfDirectory(name)
  mustNameRegistry(name)
  const { files, labels } = await withRegistry(insecure, (registry) => pullBundleOrCatalog(registry, name))
  const directory = catalogDirectory(labels)
  if (directory === undefined)
    throw new Error(`${name} is no catalog image: no label says where its catalog lies`)
  const below = new Map([...files].map(([path, bytes]) => [path.slice(directory.length + 1), bytes]))
  const ignores = [...below].filter(([path]) => isIgnoreFile(path))
  const { files: paths, loadError } = selectFiles(
    below.keys(),
    new Map(ignores.map(([path, bytes]) => [path, new TextDecoder().decode(bytes)])),
  )
  if (loadError) throw new Error(loadError.message)
  return paths.map((path) => ({ path, file: readServedFile(below.get(path) ?? new Uint8Array()) }))
}

function filesOfDirectory(dir: string): Files {
  const directory = openCatalogDirectory(dir)
  if (directory.kind !== 'files') throw new Error(directory.message)
  return directory.files.map((file) => {
    const bytes = file.read()
    if ('error' in bytes) throw new Error(bytes.error)
    return { path: file.path, file: readServedFile(bytes) }
  })
}
