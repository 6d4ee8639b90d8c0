// What happened in one job, and how long each part took, for who watches several of them: spans, in our own words.

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Tracing {
  /** Runs `work` as a part of whatever runs now. What it rejects with is passed on, and marks the span. */
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  /** Sends what is left. Never rejects: nobody waits for a collector. */
  close(): Promise<void>
}

/** For who has no collector: it costs nothing. */
export const noTracing: Tracing = {
  span: (_name, _attributes, work) => work(),
  close: () => Promise.resolve(),
}

/** The same object, with a span around each call of these methods. */
export function traceCalls<T extends object>(
  of: T,
  called: string,
  methods: readonly (keyof T & string)[],
  tracing: Tracing,
): T {
  if (tracing === noTracing) return of
  const names: ReadonlySet<string | symbol> = new Set(methods)
  return new Proxy(of, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || !names.has(name)) return value
      return (...given: readonly unknown[]) =>
        tracing.span(
          `${called}.${String(name)}`,
          {},
          () => Reflect.apply(value, target, given) as Promise<unknown>,
        )
    },
  })
}
