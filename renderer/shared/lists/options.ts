/** The options of a control, by their labels. Values that are whole numbers come first, in ascending order. */
export const optionsOf = <Value extends string>(
  labels: Readonly<Record<Value, string>>,
): readonly { value: Value; label: string }[] =>
  (Object.entries(labels) as [Value, string][]).map(([value, label]) => ({ value, label }));
