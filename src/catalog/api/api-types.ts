// A bundle in a channel as OLM's gRPC API knows it (`api.Bundle`). Pure data under the names of the protocol.

export interface ApiBundle {
  readonly csvName: string
  readonly packageName: string
  readonly channelName: string
  /** The ClusterServiceVersion as JSON; empty where the catalog holds none. */
  readonly csvJson: string
  /** The manifests as JSON. */
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

/** A property or a dependency; its value is JSON as text. */
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
