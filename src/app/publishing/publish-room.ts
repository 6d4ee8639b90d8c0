// What the publishing process does an order with: the operator's list, and of one entry its registry and its key.
import type { CatalogPublisher } from '../../image/catalog-publisher.ts'
import type { SigningKey } from '../../image/provenance/signing-key.ts'
import type { ReadTree } from '../../ports/repository.ts'
import type { RegistryClient } from '../../registry/registry-client.ts'
import type { Transport } from '../../registry/transport/transport.ts'
import type { PushTarget } from './push-targets.ts'
import type { PublishOrder } from './publish-order.ts'

/** What an order is done with. */
export interface PublishRoom {
  readonly targets: readonly PushTarget[]
  /** A registry client that has one entry's credentials and nobody else's. */
  readonly registryFor: (at: number) => Promise<RegistryRoom>
  readonly mirrorAt: (directory: string) => Promise<ReadTree>
  readonly secretOf: (file: string) => Promise<string>
  readonly transport: Transport
  /** Registries inside the operator's network: nobody's base unless the operator says so. */
  readonly closedHosts: readonly string[]
  readonly now: () => number
  /** Of this program, as provenance names it. */
  readonly version: string
}

export interface RegistryRoom {
  readonly publisher: CatalogPublisher
  /** Reads what is published; it asks no mirror. */
  readonly registry: Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>
  /** A base may lie in a mirror alone, so this one asks mirrors. */
  readonly digestOfBase: CatalogPublisher['digestOf']
  /** Undefined where the operator wants nothing signed. Rejects with an ImageError for a key that cannot be used. */
  readonly signingKey: () => Promise<SigningKey | undefined>
  /** Whether the key signs each platform's manifest, too. Default: true. */
  readonly signPlatforms?: boolean | undefined
}

export type OrderOf<Kind extends PublishOrder['kind']> = Extract<PublishOrder, { kind: Kind }>
