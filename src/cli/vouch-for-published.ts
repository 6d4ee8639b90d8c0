// What `build --push` and `rebase --push` put beside an image: its bill of images and its provenance, signed where `--key` says so.
import { readFileSync } from 'node:fs'
import { isAbsolute, normalize, sep } from 'node:path'
import { version } from './version.ts'
import { systemClock } from '../examine/system-clock.ts'
import { printable } from '../findings/printable.ts'
import type {
  CatalogFile,
  CatalogImage,
  CatalogPublisher,
  Published,
  Target,
} from '../image/catalog-publisher.ts'
import { ImageError } from '../image/image-error.ts'
import { openSigningKey } from '../image/provenance/signing-key.ts'
import type { BuildRecord } from '../image/provenance/statement.ts'
import { signablePublished, vouchFor, type VouchRoom } from '../image/provenance/vouch-for.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { RegistryError } from '../registry/registry-error.ts'
import { say } from './output.ts'

export interface VouchOptions {
  readonly push?: boolean
  /** False with `--no-provenance`: nothing is put beside the image. */
  readonly provenance: boolean
  readonly key?: string
  readonly passwordVariable: string
  /** False with `--no-recursive`: of an index, the key signs the index alone. */
  readonly recursive: boolean
}

export interface Origin {
  /** `org.opencontainers.image.source` and `.revision` say the commit. */
  readonly annotations: Readonly<Record<string, string>>
  readonly path?: string
  readonly rebased?: BuildRecord['rebased']
  readonly built: () => Promise<CatalogImage>
  readonly files: () => Promise<readonly CatalogFile[]>
}

export type Vouch = (published: Published, target: Target, origin: Origin) => Promise<Published>

/** Opens the key before anything is pushed. What it gives resolves with what the tags have in the end. */
export async function vouchForPublished(
  { push, provenance, key: file, passwordVariable, recursive }: VouchOptions,
  publisher: CatalogPublisher,
  registry: RegistryClient,
): Promise<Vouch> {
  if (file !== undefined && push !== true) throw new Error('--key signs what --push pushes')
  if (file !== undefined && !provenance)
    throw new Error('--key signs the provenance too: leave out --no-provenance, or use `catalog-bot sign`')
  if (push !== true || !provenance) return (published) => Promise.resolve(published)
  const key =
    file === undefined
      ? undefined
      : await openSigningKey(readFileSync(file, 'utf8'), process.env[passwordVariable])
  const room: VouchRoom = { publisher, registry, key, signPlatforms: recursive }
  const started = systemClock.now()
  return async (published, target, origin) => {
    const signable = await signablePublished(room, published, origin.built, target)
    const { repository } = target
    const { digest } = signable
    try {
      await vouchFor(room, {
        repository,
        digest,
        made: async () => {
          const image = signable.image ?? (await origin.built())
          const listed = image.layer.listed ?? (await publisher.listBundles(await origin.files()))
          return { listed, build: { ...recordOf(image, origin), started, finished: systemClock.now() } }
        },
      })
    } catch (error) {
      // A failure without a key is only reported: unsigned data isn't relied on.
      if (key || !(error instanceof RegistryError || error instanceof ImageError)) throw error
      say(printable(`Warning: no provenance could be put beside ${repository}@${digest}: ${error.message}`))
    }
    return signable
  }
}

function recordOf({ base, platforms }: CatalogImage, { annotations, path, rebased }: Origin): BuildRecord {
  const repository = annotations['org.opencontainers.image.source']
  const revision = annotations['org.opencontainers.image.revision']
  const hasSource = repository !== undefined && revision !== undefined
  return {
    ...(hasSource && { source: { repository, revision, ...(path !== undefined && { path }) } }),
    ...(base && { base }),
    ...(rebased && { rebased }),
    platforms,
    builder: 'urn:catalog-bot:command-line',
    version: version(),
  }
}

/** A directory as the repository has it, for who builds at its top; nothing of this machine otherwise. */
export function pathInRepository(directory: string): string | undefined {
  const path = normalize(directory).split(sep).join('/').replace(/\/$/, '')
  return isAbsolute(directory) || path.startsWith('..') ? undefined : path
}
