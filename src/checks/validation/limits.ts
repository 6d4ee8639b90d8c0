// Ceilings of size, each with its reason. In bytes of the catalog's text, as it lies in its files.

export interface Limits {
  readonly bundle: number
  readonly package: number
  readonly catalog: number
}

const mebibyte = 1024 * 1024

export const defaultLimits: Limits = {
  // A bundle travels from the catalog to the cluster as one gRPC message (4 MiB by default), and what is made of it
  // there is one object of the Kubernetes API, where etcd refuses requests above 1.5 MiB.
  bundle: mebibyte,
  // A package is usually one file, and GitHub warns at 50 MiB for a file and refuses 100.
  package: 50 * mebibyte,
  // The catalog's pod holds all of it while it builds its cache; the largest public catalogs stay well below.
  catalog: 512 * mebibyte,
}
