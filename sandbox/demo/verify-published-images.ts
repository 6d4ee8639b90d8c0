// Pulls the demo's catalog images from the registry, as a cluster would, and compares them with the branch.
import { execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { openCatalogPublisher } from '../../src/adapters/image/open-catalog-publisher.ts'
import { openPusher } from '../../src/adapters/image/open-pusher.ts'
import { openRegistry } from '../../src/adapters/registry/open-registry.ts'
import { allowLoopbackRegistries } from '../../src/adapters/registry/transport/egress-policy.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import type { DemoEnvironment } from './demo-environment.ts'
import { catalogImageRepository as image } from './set-up-publishing.ts'

const openShiftCatalogVersions = ['v4.19', 'v4.20'] as const

export interface PublishedImagesReport {
  readonly lines: readonly string[]
  /** Whether every image contains exactly the files of the branch. */
  readonly isGood: boolean
}

export interface PulledCatalogImage {
  readonly digest: string
  readonly platforms: readonly string[]
  readonly files: readonly CatalogImageFile[]
  /** The contents of a file, or '' if it does not exist. */
  text(path: string): string
}

/** Reads catalog images from a registry on this machine, like any client that pulls them. */
export function openCatalogImageReader(host: string): {
  /** The reference, `repository:tag`. Undefined until the image exists. */
  readonly read: (name: string) => Promise<PulledCatalogImage | undefined>
} {
  return {
    async read(name) {
      const reading = { clock: systemClock, egress: allowLoopbackRegistries(host), credentials: [] }
      const registry = openRegistry(reading)
      const publisher = openCatalogPublisher({ registry, pusher: openPusher(reading) })
      try {
        if ((await publisher.digestOf(`${host}/${name}`)) === undefined) return undefined
        const { digest, platforms, files } = await publisher.read(`${host}/${name}`)
        return {
          digest,
          platforms,
          files,
          text: (path) => Buffer.from(files.find((one) => one.path === path)?.bytes ?? []).toString(),
        }
      } finally {
        await publisher.close()
        await registry.close()
      }
    },
  }
}

/** Reads each image and compares its catalog with the branch. Waits up to this time for the last one. */
export async function verifyPublishedImages(
  coast: Pick<DemoEnvironment, 'registry' | 'repository'>,
  milliseconds: number,
): Promise<PublishedImagesReport> {
  const { host } = coast.registry
  const end = performance.now() + milliseconds
  const lines: string[] = []
  let isGood = true
  for (const version of openShiftCatalogVersions) {
    let found = await readOne(version)
    while (!found.isSame && performance.now() < end) {
      await pause(200)
      found = await readOne(version)
    }
    lines.push(...found.lines)
    isGood &&= found.isSame
  }
  return { lines, isGood }

  async function readOne(version: string) {
    const name = `${image}:${version}`
    const read = await openCatalogImageReader(host).read(name)
    if (read === undefined) return { isSame: false, lines: [`NOT PUBLISHED  ${host}/${name}`] }
    const { digest, files, platforms } = read
    const root = `catalogs/${version}`
    const isSame =
      files.length > 0 &&
      serializeFilesForComparison(files) === serializeFilesForComparison(readCatalogFilesFromGit(coast, root))
    const bundles = files.map(
      ({ path, bytes }) =>
        `${path.split('/')[0]} (${Buffer.from(bytes).toString().split('schema: olm.bundle').length - 1})`,
    )
    return {
      isSame,
      lines: [
        `published  ${host}/${name} as ${digest} for ${platforms.join(' and ')}`,
        `verified   ${isSame ? `equal to ${root} on main` : `NOT EQUAL to ${root} on main`}; bundles: ${bundles.join(', ')}`,
      ],
    }
  }
}

interface CatalogImageFile {
  readonly path: string
  readonly bytes: Uint8Array
}

function readCatalogFilesFromGit(
  { repository }: Pick<DemoEnvironment, 'repository'>,
  root: string,
): readonly CatalogImageFile[] {
  const git = (...args: string[]) => execFileSync('git', ['-C', repository.path, ...args])
  return git('ls-tree', '-r', '--name-only', 'main', `${root}/`)
    .toString()
    .trim()
    .split('\n')
    .map((path) => ({ path: path.slice(root.length + 1), bytes: git('show', `main:${path}`) }))
}

function serializeFilesForComparison(files: readonly CatalogImageFile[]): string {
  return files
    .map(({ path, bytes }) => `${path}\n${Buffer.from(bytes).toString('base64')}`)
    .sort()
    .join('\n')
}
