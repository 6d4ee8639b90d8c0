// Runs an image of an OCI layout like a container engine does: with its user, environment, entrypoint, and command, a
// read-only root file system, no capabilities, and a writable /data and /tmp. buildah unpacks it, and crun runs it. The
// container shares the network of this machine.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface ImageDescriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface ImageManifest {
  readonly config: ImageDescriptor
  readonly layers: readonly ImageDescriptor[]
}

export interface ImageConfig {
  readonly config: {
    readonly User: string
    readonly Env: readonly string[]
    readonly Entrypoint: readonly string[]
    readonly Cmd: readonly string[]
    readonly WorkingDir: string
    readonly Labels: Readonly<Record<string, string>>
  }
  readonly rootfs: { readonly type: 'layers'; readonly diff_ids: readonly string[] }
  readonly history?: readonly object[]
}

export const getLayoutBlobPath = (layout: string, digest: string): string =>
  join(layout, 'blobs', digest.replace(':', '/'))

/** Reads the only image of a layout. */
export function readImageLayout(layout: string): { manifest: ImageManifest; config: ImageConfig } {
  const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as unknown
  const index = readJson(join(layout, 'index.json')) as { manifests: readonly [ImageDescriptor] }
  const manifest = readJson(getLayoutBlobPath(layout, index.manifests[0].digest)) as ImageManifest
  const config = readJson(getLayoutBlobPath(layout, manifest.config.digest)) as ImageConfig
  return { manifest, config }
}

/** Unpacks the layout's image below `directory`, with owners and modes. Returns its root directory. */
export function unpackImage(layout: string, directory: string): string {
  const buildah = (...args: readonly string[]) =>
    execFileSync(
      'buildah',
      [
        ...['--root', join(directory, 'storage'), '--runroot', join(directory, 'run')],
        ...['--storage-driver', 'vfs', ...args],
      ],
      { encoding: 'utf8' },
    ).trim()
  return buildah('mount', buildah('from', '--quiet', `oci:${layout}:latest`))
}

export interface RunningContainer {
  /** Every line that the container printed. */
  readonly lines: readonly string[]
  /** Process IDs on this machine. */
  processIds(): readonly number[]
  /** Runs a command in the container, like `docker exec`. */
  execute(...command: readonly string[]): { readonly output: string; readonly exitCode: number | null }
  /** Sends the signal. Resolves with the exit code when the container has ended. */
  stop(signal: 'TERM' | 'KILL'): Promise<number | null>
}

export interface ContainerOptions {
  readonly root: string
  readonly config: ImageConfig['config']
  /** For the container's configuration and its /data. */
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
}

export function startContainer({ root, config, directory, environment }: ContainerOptions): RunningContainer {
  const name = `catalog-bot-${process.pid}`
  const userId = Number(config.User)
  const dataDirectory = join(directory, 'data')
  mkdirSync(dataDirectory)
  chownSync(dataDirectory, userId, userId)
  const tmpfs = { type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] }
  // https://github.com/opencontainers/runtime-spec/blob/main/config.md
  const runtimeConfig = {
    ociVersion: '1.0.0',
    root: { path: root, readonly: true },
    process: {
      user: { uid: userId, gid: userId },
      args: [...config.Entrypoint, ...config.Cmd],
      env: [...config.Env, ...Object.entries(environment).map(([key, value]) => `${key}=${value}`)],
      cwd: config.WorkingDir,
      capabilities: {},
      noNewPrivileges: true,
    },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', ...tmpfs, options: ['nosuid', 'mode=755'] },
      { destination: '/tmp', ...tmpfs },
      { destination: '/data', type: 'bind', source: dataDirectory, options: ['bind', 'rw'] },
    ],
    linux: { namespaces: [{ type: 'mount' }, { type: 'pid' }, { type: 'ipc' }, { type: 'uts' }] },
  }
  writeFileSync(join(directory, 'config.json'), JSON.stringify(runtimeConfig))

  const runtime = ['--root', join(directory, 'crun'), '--cgroup-manager=disabled']
  const child = spawn('crun', [...runtime, 'run', '--bundle', directory, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return {
    lines,
    processIds() {
      const { pid } = JSON.parse(execFileSync('crun', [...runtime, 'state', name], { encoding: 'utf8' })) as {
        pid: number
      }
      return listProcessTree(pid)
    },
    execute(...command) {
      const { stdout, stderr, status } = spawnSync('crun', [...runtime, 'exec', name, ...command], {
        encoding: 'utf8',
      })
      return { output: stdout + stderr, exitCode: status }
    },
    async stop(signal) {
      if (child.exitCode === null) spawnSync('crun', [...runtime, 'kill', name, signal])
      const [code] = await exited
      return code
    },
  }
}

/** A process and all its descendants. */
function listProcessTree(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(listProcessTree)]
}
