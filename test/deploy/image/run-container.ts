// Runs an image as a container engine does, with the two tools that are below engines: umoci unpacks an OCI layout and
// derives the runtime's configuration from the image's, and runc runs it.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** https://github.com/opencontainers/runtime-spec/blob/main/config.md: the fields that `startContainer` uses. */
interface OciRuntimeConfig {
  process: { env: string[]; terminal: boolean; capabilities: object; user: { uid: number; gid: number } }
  root: { readonly?: boolean }
  mounts: { destination: string; type: string; source: string; options: string[] }[]
  linux: { namespaces: { type: string }[] }
}

/** The tags of a layout, in its order. */
export function listImageTags(layout: string): readonly string[] {
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as {
    readonly manifests: readonly { readonly annotations: Readonly<Record<string, string>> }[]
  }
  return manifests.map(({ annotations }) => annotations['org.opencontainers.image.ref.name'] ?? '')
}

/** Unpacks the image with owners and modes. The files are in `rootfs` below the returned directory. */
export function unpackImage(layout: string, bundle: string, tag = listImageTags(layout)[0]): string {
  execFileSync('umoci', ['unpack', '--image', `${layout}:${tag}`, bundle])
  return bundle
}

export interface ContainerCommandResult {
  readonly output: string
  readonly exitCode: number
}

export interface RunningContainer {
  /** Every line that the container printed. */
  readonly lines: readonly string[]
  /** Process IDs on this machine. */
  processIds(): readonly number[]
  /** Runs a command in the container, like `docker exec`. */
  execute(...command: readonly string[]): Promise<ContainerCommandResult>
  /** Sends the signal. Resolves with the exit code when the container has ended. */
  stop(signal: 'TERM' | 'KILL'): Promise<number | null>
}

export interface ContainerOptions {
  readonly bundle: string
  /** The directory for /data. Created here for the container's user, unless it exists. */
  readonly data: string
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Starts the image's command with its user and environment, a read-only root file system, no capabilities, and a writable
 * /data and /tmp. The container shares the network of this machine.
 */
export function startContainer({ bundle, data, environment }: ContainerOptions): RunningContainer {
  const configPath = join(bundle, 'config.json')
  const config = JSON.parse(readFileSync(configPath, 'utf8')) as OciRuntimeConfig
  mkdirSync(data, { recursive: true })
  chownSync(data, config.process.user.uid, config.process.user.gid)
  config.process.terminal = false
  config.process.capabilities = {}
  config.process.env.push(...Object.entries(environment).map(([name, value]) => `${name}=${value}`))
  config.root.readonly = true
  config.mounts = [
    ...config.mounts.filter(({ destination }) => !['/data', '/sys/fs/cgroup'].includes(destination)),
    { destination: '/data', type: 'bind', source: data, options: ['bind', 'rw', 'nosuid', 'nodev'] },
    { destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777'] },
  ]
  config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== 'network')
  writeFileSync(configPath, JSON.stringify(config))

  const name = `catalog-bot-${process.pid}`
  const runtime = ['--root', join(bundle, 'runc')]
  const child = spawn('runc', [...runtime, 'run', '--bundle', bundle, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const lines: string[] = []
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line))
  return {
    lines,
    processIds: () =>
      JSON.parse(
        execFileSync('runc', [...runtime, 'ps', '--format', 'json', name], { encoding: 'utf8' }),
      ) as number[],
    // Not synchronous, because the command may ask a server in this process.
    execute: (...command) =>
      new Promise((resolve) => {
        const exec = spawn('runc', [...runtime, 'exec', name, ...command], {
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        let output = ''
        for (const stream of [exec.stdout, exec.stderr])
          stream.setEncoding('utf8').on('data', (text: string) => (output += text))
        exec.on('close', (code) => resolve({ output, exitCode: code ?? -1 }))
      }),
    async stop(signal) {
      if (child.exitCode === null) execFileSync('runc', [...runtime, 'kill', name, signal])
      const [code] = await exited
      return code
    },
  }
}
