# Before the output is collected: a task set that carries it to the verifier refuses links that lead elsewhere, and
# more bytes than its limit. "most" is set above.
cd /home || exit 0
fits() { [ "$(tar -cf - "$1" 2>/dev/null | head -c "$(($2 + 1))" | wc -c)" -le "$2" ]; }
for folder in submission code logs; do
    [ -L $folder ] || [ ! -d $folder ] && rm -rf $folder
    find $folder ! -type d ! -type f -exec rm -f {} +
done 2>/dev/null
find submission -type f ! -path submission/submission.csv -exec rm -f {} + 2>/dev/null
find code logs -type f -size +1048576c -exec rm -f {} + 2>/dev/null
fits code 6291456 || rm -rf code
fits logs 6291456 || rm -rf logs
fits submission "$most" || {
    rm -rf submission
    mkdir submission
    echo "removed: submission/ had more than $most bytes" >submission/submission.csv
}
find /logs/artifacts -mindepth 1 -exec rm -rf {} + 2>/dev/null
exit 0
