/** The data that a catalog server returned, or the reason that it returned none. */
export type CatalogServerResponse = {
  /** For display, such as `opm`. */
  readonly server: string
} & (
  | {
      readonly kind: 'answered'
      /** The server contains only some packages. */
      readonly isPart?: true
      readonly packages: readonly string[]
      readonly defaultChannel: string
      readonly channels: readonly { readonly name: string; readonly head: string }[]
      readonly bundles: readonly { readonly channel: string; readonly name: string }[]
      /** The server's error messages. */
      readonly errors: readonly string[]
    }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server did not run, which says nothing about the catalog. */
  | { readonly kind: 'unknown'; readonly reason: string }
)

// A bundle in a channel, with the field names of OLM's gRPC API (`api.Bundle`).

export interface ApiBundle {
  readonly csvName: string
  readonly packageName: string
  readonly channelName: string
  /** JSON; empty if the catalog has no ClusterServiceVersion. */
  readonly csvJson: string
  readonly object: readonly string[]
  readonly bundlePath: string
  readonly providedApis: readonly GroupVersionKind[]
  readonly requiredApis: readonly GroupVersionKind[]
  readonly version: string
  readonly skipRange: string
  readonly dependencies: readonly ApiPropertyOrDependency[]
  readonly properties: readonly ApiPropertyOrDependency[]
  readonly replaces: string
  readonly skips: readonly string[]
  readonly deprecation?: ApiDeprecation
}

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** `value` is JSON text. */
export interface ApiPropertyOrDependency {
  readonly type: string
  readonly value: string
}

export interface ApiDeprecation {
  readonly message: string
}

export interface ApiRelatedImage {
  readonly name: string
  readonly image: string
}
