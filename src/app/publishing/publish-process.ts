// The process with push credentials. It runs one order at a time, for one repository and purpose, and does not decide
// what is published.
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { openGuestMirrors } from '../../git/guest-mirror.ts'
import { openCatalogPublisher } from '../../image/open-catalog-publisher.ts'
import { openPusher } from '../../image/open-pusher.ts'
import { credentialsInFile } from '../../registry/auth/credential-files.ts'
import type { CredentialSource } from '../../registry/auth/credentials.ts'
import { dockerConfigCredentials, parseDockerConfig } from '../../registry/auth/docker-config.ts'
import { openRegistry } from '../../registry/open-registry.ts'
import { readRegistryWays } from '../../registry/registry-access.ts'
import { openTransport } from '../../registry/transport/transport.ts'
import { systemClock } from '../../examine/system-clock.ts'
import { answerOrders, type CallBack } from '../../workers/answer-orders.ts'
import { versionIn } from '../version.ts'
import { guardProcess } from '../../workers/guarded-process.ts'
import { doPublishOrder } from './do-publish-order.ts'
import { openKeyFile } from './key-file.ts'
import type { PublishRoom, RegistryRoom } from './publish-room.ts'
import { parsePushTargets, type PushTarget } from './push-targets.ts'
import type { IntendAnswer, PublishAnswer, PublishOrder } from './publish-order.ts'

const environment = process.env
const inline = environment['PUBLISH_CREDENTIALS']
const keyPassword = environment['PUBLISH_KEY_PASSWORD']
// Child processes (git, credential helpers) inherit this environment.
delete environment['PUBLISH_CREDENTIALS']
delete environment['PUBLISH_KEY_PASSWORD']
const list = environment['PUBLISH_TARGETS'] ?? ''

const mirrorAt = openGuestMirrors()

interface Opened {
  /** Compared on each order, so that a changed list takes effect. */
  readonly text: string
  readonly room: PublishRoom
}
let opened: Promise<Opened> | undefined

async function roomNow(): Promise<PublishRoom> {
  const text = list === '' ? '' : await readFile(list, 'utf8')
  const known = await opened?.catch(() => undefined)
  if (known?.text === text) return known.room
  opened = openRoom(text)
  return (await opened).room
}

async function openRoom(text: string): Promise<Opened> {
  const targets = parsePushTargets(text)
  const insecure = (environment['INSECURE_REGISTRIES'] ?? '').split(',').filter((host) => host !== '')
  const ways = await readRegistryWays(environment, insecure)
  const rooms = new Map<number, Promise<RegistryRoom>>()
  const room: PublishRoom = {
    targets,
    registryFor: (at) => {
      const known = rooms.get(at)
      if (known !== undefined) return known
      const made = openRegistryRoom(targets[at], ways)
      rooms.set(at, made)
      made.catch(() => rooms.delete(at))
      return made
    },
    mirrorAt,
    secretOf: async (file) => (await readFile(resolve(dirname(list), file), 'utf8')).trim(),
    transport: openTransport({ egress: ways.egress }),
    // Registries on this machine count as internal.
    closedHosts: [...ways.closedHosts, ...insecure].map((host) => host.trim().toLowerCase()),
    now: () => Date.now(),
    version: versionIn(join(import.meta.dirname, '..', '..', '..')),
  }
  return { text, room }
}

async function openRegistryRoom(
  target: PushTarget | undefined,
  ways: Awaited<ReturnType<typeof readRegistryWays>>,
): Promise<RegistryRoom> {
  const credentials: readonly CredentialSource[] = await credentialsOf(target)
  const access = { clock: systemClock, ...ways, credentials }
  const registry = openRegistry(access)
  // Mirrors may lag behind on new tags and on tags that still use an image to remove, so none is asked.
  const published = openRegistry({ ...access, rules: [] })
  const pusher = openPusher(access)
  const publisher = openCatalogPublisher({ registry, published, pusher })
  const bases = openCatalogPublisher({ registry, pusher })
  const keyFile = target?.signingKey
  const key = keyFile === undefined ? undefined : openKeyFile(resolve(dirname(list), keyFile), keyPassword)
  return {
    publisher,
    registry: published,
    digestOfBase: (base, signal) => bases.digestOf(base, signal),
    signingKey: async () => key?.(),
    signPlatforms: target?.signPlatforms,
  }
}

async function credentialsOf(target: PushTarget | undefined): Promise<readonly CredentialSource[]> {
  if (target?.credentials !== undefined)
    return [await credentialsInFile(resolve(dirname(list), target.credentials))]
  if (inline === undefined) return []
  return [dockerConfigCredentials(parseDockerConfig(inline, 'PUBLISH_CREDENTIALS'))]
}

async function work(order: PublishOrder, callBack: CallBack): Promise<PublishAnswer> {
  let room: PublishRoom
  try {
    room = await roomNow()
  } catch (error) {
    return { kind: 'failed', why: error instanceof Error ? error.message : String(error), retryable: true }
  }
  return doPublishOrder(order, room, async (intending) => (await callBack(intending)) as IntendAnswer)
}

guardProcess()
answerOrders(work)
