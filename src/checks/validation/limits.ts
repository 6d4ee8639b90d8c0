// Size limits, in bytes of the catalog's text.

export interface CatalogSizeLimits {
  readonly bundle: number
  readonly package: number
  readonly catalog: number
}

const bytesPerMebibyte = 1024 * 1024

export const defaultCatalogSizeLimits: CatalogSizeLimits = {
  // gRPC sends a bundle to the cluster as one message (4 MiB by default), and the resulting Kubernetes object must fit
  // etcd's request limit of 1.5 MiB.
  bundle: bytesPerMebibyte,
  // A package is usually one file; GitHub warns about files larger than 50 MiB and rejects files larger than
  // 100 MiB.
  package: 50 * bytesPerMebibyte,
  // The catalog's pod holds all of it while building its cache; the largest public catalogs are much smaller.
  catalog: 512 * bytesPerMebibyte,
}
