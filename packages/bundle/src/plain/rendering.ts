import { sha224 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Finding } from '@catalog-bot/findings/finding'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { escapeHtmlInJson } from '@catalog-bot/fbc/go/json/json-text'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'
import type { BundleFormat } from '../bundle-files.ts'
import type { FieldPath } from '../manifest-document.ts'

export type JsonObject = Readonly<Record<string, Json>>

/** The provider of webhook certificates. OLM v1 accepts bundles with webhooks only if a provider is available. */
export type CertificateProvider = 'cert-manager' | 'openshift-service-ca'

export interface PlainManifestRenderOptions {
  readonly installNamespace: string
  /** The namespaces to watch; `['']` means all. Defaults to OLM v1's default. */
  readonly watchNamespaces?: readonly string[]
  /** Defaults to `cert-manager`. `none` is for a cluster without a provider. */
  readonly certificates?: CertificateProvider | 'none'
}

export interface RenderedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Absent if the object is cluster-scoped or belongs to the namespace in which it is applied. */
  readonly namespace?: string
  readonly manifest: JsonObject
  /** The bundle file that it comes from; for generated objects, the file of the ClusterServiceVersion. */
  readonly file: string
}

export interface RenderRejection {
  readonly message: string
  readonly at?: { readonly file: string; readonly path: FieldPath }
  /** The rule that reports the same problem during validation. Absent if only an installation reveals it. */
  readonly reportedByRule?: string
  /** The requested namespaces are the problem. With others, the bundle might render. */
  readonly isAboutOptions?: true
}

export interface PlainManifestRenderResult {
  /** Absent if the files aren't a bundle. */
  readonly format?: BundleFormat
  /** In the renderer's order. Empty if OLM rejects the bundle. */
  readonly objects: readonly RenderedObject[]
  readonly rejections: readonly RenderRejection[]
  /** Rejections that no rule of `validateBundle` reports and that don't concern the options. */
  readonly findings: readonly Finding[]
  /** Sentences about inconclusive parts, for example a chart that only Helm can render. Never counts as passed. */
  readonly open: readonly string[]
}

// Names that OLM generates from a base and a suffix, and truncates to the length of a label. The suffix is usually a
// hash of the object.
const maxObjectNameBytes = 63

/** Truncates the base if both exceed 63 bytes. As in OLM, the dash doesn't count, so the result can have 64 bytes. */
export function formatObjectNameWithSuffix(base: string, suffix: string): string {
  const bytes = new TextEncoder().encode(base)
  const isLong = bytes.length + suffix.length > maxObjectNameBytes
  return `${isLong ? decodeUtf8LikeGo(bytes.subarray(0, maxObjectNameBytes - suffix.length - 1)) : base}-${suffix}`
}

/** The base with the hash of a value: base 36 of the SHA-224 of Go's JSON and a line feed. */
export function formatObjectNameWithHash(base: string, value: Json): string {
  // Keeps the order of the fields, because a Go struct is written in the order of its type.
  const hash = sha224(new TextEncoder().encode(`${escapeHtmlInJson(JSON.stringify(value))}\n`))
  return formatObjectNameWithSuffix(base, BigInt(`0x${bytesToHex(hash)}`).toString(36))
}
