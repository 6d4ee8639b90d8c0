// Spans record the steps of a job and how long each took.

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface Tracing {
  /** Runs `work` in a child of the current span. A rejection marks the span and is propagated. */
  span<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>
  /** Sends the remaining spans. Never rejects. */
  close(): Promise<void>
}

/** For running without a collector. */
export const noopTracing: Tracing = {
  span: (_name, _attributes, work) => work(),
  close: () => Promise.resolve(),
}

/** Wraps each call of these methods in a span. Span names are public: they don't change when a method is renamed. */
export function traceMethodCalls<T extends object>(
  of: T,
  spanNames: Readonly<Partial<Record<keyof T & string, string>>>,
  tracing: Tracing,
): T {
  if (tracing === noopTracing) return of
  const nameByMethod: ReadonlyMap<string | symbol, string> = new Map(
    Object.entries<string>(spanNames as Record<string, string>),
  )
  return new Proxy(of, {
    get(target, name): unknown {
      const value: unknown = Reflect.get(target, name)
      const span = nameByMethod.get(name)
      if (typeof value !== 'function' || span === undefined) return value
      return (...given: readonly unknown[]) =>
        tracing.span(span, {}, () => Reflect.apply(value, target, given) as Promise<unknown>)
    },
  })
}
