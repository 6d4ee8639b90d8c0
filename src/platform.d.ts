// The few platform globals a pure floor may use: they exist in every JavaScript runtime and touch nothing
// outside their arguments. Seen by tsconfig.pure.json only.

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(input?: Uint8Array): string
}

declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>
}

declare function atob(data: string): string
declare function btoa(data: string): string
declare class URL {
  constructor(url: string, base?: string)
  readonly protocol: string
  readonly hostname: string
  readonly host: string
  readonly port: string
  readonly pathname: string
  readonly search: string
  readonly username: string
  readonly password: string
  readonly href: string
}
