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
  readonly dependencies: readonly TypedValue[]
  readonly properties: readonly TypedValue[]
  readonly replaces: string
  readonly skips: readonly string[]
  readonly deprecation?: Deprecation
}

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** `value` is JSON text. */
export interface TypedValue {
  readonly type: string
  readonly value: string
}

export interface Deprecation {
  readonly message: string
}

export interface RelatedImage {
  readonly name: string
  readonly image: string
}
