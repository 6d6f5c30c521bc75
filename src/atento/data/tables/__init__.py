"""Tables: files of every format as rows of text with named columns.

The table and its entry points
    table          Table, read_table: the format is found, the reader called, the columns named
    sniffing       the format of a file by its name or content; the delimiter of a CSV file
    headers        whether the first row is a header; names for columns
    column_names   the usual names of columns of texts, labels, words and tags
    chunks         a file larger than memory as a sequence of small files
    writing        tables to CSV, TSV, JSONL, Parquet and CoNLL

Readers of one format each
    delimited      CSV, TSV, plain lines
    jsonl          JSON Lines, nested objects by dotted names
    json_documents one JSON document with many rows
    spans          spans of a text with labels, as words and tags
    excel          Excel workbooks
    tmx            translation memories
    ruled          tables ruled with bars, or with columns that spaces separate
    parquet        Parquet
    conll          CoNLL and CoNLL-U; tables with one word per row
    label_lines    a label before each text: fastText, TREC
    parallel       parallel files, line by line
    folders        a folder or an archive of text files
    image_folders  a folder or an archive of images
    arrays         numpy arrays
    ts_and_arff    .ts and .arff files of the UCR and UEA archives
    wide           tables with one column per step

What a cell may hold
    cells          lists, several labels
    number_lists   sequences of numbers
"""
