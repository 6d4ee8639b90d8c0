import type { Finding } from '../../findings/finding.ts'
import type { Json } from '../../go/json/json.ts'
import type { BundleFormat } from '../bundle-files.ts'
import type { FieldPath } from '../bundle-locator.ts'

export type JsonObject = Readonly<Record<string, Json>>

/** Who makes the certificates of webhooks: OLM v1 takes bundles with webhooks only where one of them is there. */
export type CertificateProvider = 'cert-manager' | 'openshift-service-ca'

export interface PlainRenderOptions {
  readonly installNamespace: string
  /** The namespaces to watch, `['']` for all. What OLM v1 takes by default where it is left out. */
  readonly watchNamespaces?: readonly string[]
  /** `cert-manager` where nothing is said; `none` for a cluster without any. */
  readonly certificates?: CertificateProvider | 'none'
  readonly deploymentConfig?: DeploymentConfig
}

/** OLM v1's `deploymentConfig`, as Kubernetes writes its parts. */
export interface DeploymentConfig {
  readonly env?: readonly JsonObject[]
  readonly envFrom?: readonly JsonObject[]
  readonly volumes?: readonly JsonObject[]
  readonly volumeMounts?: readonly JsonObject[]
  readonly tolerations?: readonly JsonObject[]
  readonly resources?: JsonObject
  readonly nodeSelector?: JsonObject
  readonly affinity?: JsonObject
  readonly annotations?: Readonly<Record<string, string>>
}

export interface RenderedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Absent where the object has none: it belongs to the cluster, or to whatever namespace it is applied in. */
  readonly namespace?: string
  readonly manifest: JsonObject
  /** The bundle's file that it comes from: the ClusterServiceVersion's for what is made of that. */
  readonly file: string
}

export interface RenderRejection {
  readonly message: string
  readonly at?: { readonly file: string; readonly path: FieldPath }
  /** The rule that tells of the same when the bundle is validated; absent where only installing it brings it up. */
  readonly reportedByRule?: string
  /** It is about the namespaces that were asked for: with others the bundle may render. */
  readonly isAboutOptions?: true
}

export interface PlainRendering {
  /** Absent where the files are no bundle. */
  readonly format?: BundleFormat
  /** In the order in which the renderer makes them. Empty where there is a refusal. */
  readonly objects: readonly RenderedObject[]
  readonly rejections: readonly RenderRejection[]
  /** The refusals of which no rule of `validateBundle` tells, without those that are about the options. */
  readonly findings: readonly Finding[]
  /** What could not be found out, as sentences: a chart is not rendered without Helm. Never a pass. */
  readonly open: readonly string[]
}
