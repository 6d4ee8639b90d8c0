import type { CsvFieldsForRendering } from './csv-view.ts'
import type { RegistryV1Bundle } from './registry-v1.ts'
import type { CertificateProvider, DeploymentConfig, JsonObject, RenderedObject } from './rendering.ts'

export interface ManifestGeneratorInput {
  readonly bundle: RegistryV1Bundle
  readonly csv: CsvFieldsForRendering
  readonly installNamespace: string
  /** `['']` means all namespaces. */
  readonly watchNamespaces: readonly string[]
  readonly certificates: CertificateProvider | undefined
  readonly deploymentConfig: DeploymentConfig | undefined
}

export function createRenderedObject(
  { csv }: ManifestGeneratorInput,
  [apiVersion, kind]: readonly [apiVersion: string, kind: string],
  metadata: { readonly name: string; readonly namespace?: string } & JsonObject,
  body: JsonObject = {},
): RenderedObject {
  const { name, namespace } = metadata
  return {
    ...{ apiVersion, kind, name },
    ...(namespace !== undefined && { namespace }),
    manifest: { apiVersion, kind, metadata, ...body },
    file: csv.file,
  }
}

export function watchesAllNamespaces({ watchNamespaces }: ManifestGeneratorInput): boolean {
  return watchNamespaces.length === 1 && watchNamespaces[0] === ''
}
