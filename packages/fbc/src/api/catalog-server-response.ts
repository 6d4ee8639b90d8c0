/** What a catalog server returned, or why it returned nothing. */
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
