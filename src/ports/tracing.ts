// Spans: what happened in one job, and how long each part took.

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Tracing {
  /** Runs `work` as a child of the current span. A rejection marks the span and is passed on. */
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  /** Sends what is left. Never rejects. */
  close(): Promise<void>
}

/** For operation without a collector. */
export const noTracing: Tracing = {
  span: (_name, _attributes, work) => work(),
  close: () => Promise.resolve(),
}

/** Wraps each call of these methods in a span. */
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
