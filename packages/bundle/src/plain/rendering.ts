import type { Finding } from '@catalog-bot/findings/finding'
import type { Json } from '@catalog-bot/fbc/go/json/json'
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
